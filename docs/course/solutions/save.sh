# Saves five versions of the file "config". Prints "saved N" when version N is durable.
body=$(seq 1000)
for n in 1 2 3 4 5; do
  printf 'version %s\n%s\nend\n' "$n" "$body" > config.new
  sync config.new         # the new file's bytes are durable
  mv config.new config    # replaces the old version in one step
  sync .                  # the name is durable
  echo "saved $n"
done
