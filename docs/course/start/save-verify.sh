# Checks that "config" is complete, and no older than the newest promised version. Standard input has the lines that
# save.sh had printed before the power cut.
promised=$(tail -n 1 | cut -d ' ' -f 2)
if [ ! -e config ]; then
  [ -z "$promised" ] && exit 0
  echo "config is missing; version $promised was promised"
  exit 1
fi
read -r word version < config || version=none
printf 'version %s\n%s\nend\n' "$version" "$(seq 1000)" | cmp -s - config ||
  { echo "config is incomplete: version $version; version ${promised:-none} was promised"; exit 1; }
[ "$version" -ge "${promised:-0}" ] || { echo "config has version $version; version $promised was promised"; exit 1; }
