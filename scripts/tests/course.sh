#!/usr/bin/env bash
# The solutions of docs/course keep their promises, and the programs that students start with fail.
#   course.sh BUILD-FOLDER plain|guest     guest: the parts that need a guest or a compiler
. "$(dirname "$0")/lib.sh"
part=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$build" && pwd)
course=$top/docs/course
export PATH=$build/bin:$PATH TMPDIR=$scratch
cd "$scratch"
said() { grep -qF -- "$1" out err || failed "\"$1\" was not said: $(cat out err)"; }

if [ "$part" = plain ]; then
  # 1: only flushed data survives, or all data without a volatile cache
  exits 0 sh "$course/solutions/first-cut.sh" on
  [ "$(head -n 1 out)" = "survivors: A" ] || failed "with a cache: $(cat out)"
  exits 0 sh "$course/solutions/first-cut.sh" off
  [ "$(head -n 1 out)" = "survivors: ABC" ] || failed "without a cache: $(cat out)"

  # 2 and 3: all programs work without a power cut; the verifiers see an old, a damaged and a missing version
  mkdir work
  for folder in start solutions; do
    save="cd work && sh $course/start/save-verify.sh <../promised"
    log="cd work && sh $course/start/log-verify.sh $course/$folder/log.sh <../promised"
    exits 0 sh -c "cd work && sh $course/$folder/save.sh"
    cp out promised
    exits 0 sh -c "$save"
    echo 'saved 6' >promised
    exits 1 sh -c "$save"
    said "config has version 5"
    head -c 100 work/config >part && mv part work/config
    exits 1 sh -c "$save"
    said "config is incomplete"
    rm work/config
    exits 1 sh -c "$save"
    said "config is missing"

    head -c 32768 /dev/zero >work/logfile
    exits 0 sh -c "cd work && sh $course/$folder/log.sh append"
    cp out promised
    exits 0 sh -c "$log"
    printf X | dd of=work/logfile bs=1 seek=8500 conv=notrunc status=none
    exits 1 sh -c "$log"
    if [ "$folder" = start ]; then said "record 1 is damaged"; else said "record 1 is missing"; fi   # by its checksum
  done

  # 4: the control fails as it should, and Soft Updates keep the rules
  exits 0 headcrash campaign ufs-schemes/no-order/ace-seq1/0 --db control.db
  said "caught, as expected: 3 damaged"
  exits 0 headcrash campaign ufs-schemes/soft-updates/ace-seq1/0 --db control.db
  said "keeps its rules"

  # 5: the plain array damages data, and the array with a log does not
  exits 1 sh "$course/solutions/write-hole.sh" raid5-5 20
  said "Pattern verification failed"
  sed -e 's/^prewrite-kib = 0/prewrite-kib = 1024/' -e 's/^recovery = "none"/recovery = "prewrite"/' "$top/plugin/profiles/arrays/raid5-5.toml" >logged.toml
  exits 0 sh "$course/solutions/write-hole.sh" ./logged.toml 2068

  # 6: sizes by the equation, for the paper's disk and two others
  for disk in '4 15' '4 7.5' '8 15'; do
    read -r rate positioning <<<"$disk"
    exits 0 headcrash experiment chen96/calculator --set "disk-mb-s=$rate" --set "positioning-ms=$positioning"
    for percent in 50 90 99; do
      size=$(awk -v r="$rate" -v p="$positioning" -v e="$percent" 'BEGIN { print r * p / 1000 * e / (100 - e) }')
      says -E "write size for $percent % of the disk's rate +$size +MB" <out || failed "6: $percent % at $rate MB/s and $positioning ms is not $size MB: $(cat out)"
    done
  done
  exit 0
fi

# 2 and 3: the first versions lose data, the solutions do not
limits=(--time 300 --states 100)   # a busy machine checks few states in the default minute
check_save=(headcrash check "${limits[@]}" --fs ext4 --verify 'sh ./verify.sh' -- sh ./save.sh)
check_log=(headcrash check "${limits[@]}" --fs ext4 --init 'head -c 32768 /dev/zero > logfile' --verify 'sh ./verify.sh ./log.sh' -- sh ./log.sh append)
cp "$course/start/save.sh" save.sh
cp "$course/start/save-verify.sh" verify.sh
exits 1 "${check_save[@]}"
said "ext4    lost "
cp "$course/solutions/save.sh" save.sh
exits 0 "${check_save[@]}"
said "the verifier can detect a loss"
cp "$course/start/log.sh" log.sh
cp "$course/start/log-verify.sh" verify.sh
exits 1 "${check_log[@]}"
said "is damaged"
cp "$course/solutions/log.sh" log.sh
exits 0 "${check_log[@]}"
said "the verifier can detect a loss"

# 4: the student's defect
mkdir broken
exits 0 "$top/scripts/defects/build" "$course/start/entry-shown.defect" "$build" "$scratch/broken" headcrash
exits 1 broken/headcrash campaign ufs-schemes/soft-updates/ace-seq1/0 --db broken.db
said "3 damaged among the stored states"
