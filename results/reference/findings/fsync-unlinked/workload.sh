#!/bin/sh
# btrfs: resurrected (documented)
# ===============================
# objects with resurrected: 1, although fsck reported no errors; first: victim31: expected no such
# name, found a file
#
# file system  btrfs, defaults
# made by      mkfs.btrfs -q -f -U {uuid} {device}
# crash state  w615- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#         (25 operations before)
#     25    truncate %victim 0
#     26 P  fsync %victim
#     27    close %victim
#     28    create victim4
#     29 P  sync
#     30    open victim4 %victim
#     31    unlink victim4
#     32 P  fsync %victim
#     33    close %victim
#     34    create victim5
#     35    write victim5 0 3584 6 4
#     36 P  sync
#     37    open victim5 %victim
#     38    unlink victim5
#     39    write %victim 0 512 6 5
#     40 P  fsync %victim
#     41    close %victim
#     42    create victim6
#     43 P  sync
#     44    open victim6 %victim
#     45    unlink victim6
#     46 P  fsync %victim
#     47    close %victim
#     48    create victim7
#     49    write victim7 0 1024 8 6
#     50 P  sync
#     51    open victim7 %victim
#     52    unlink victim7
#     53    truncate %victim 0
#     54 P  fsync %victim
#     55    close %victim
#     56    create victim8
#     57 P  sync
#     58    open victim8 %victim
#     59    unlink victim8
#     60 P  fsync %victim
#     61    close %victim
#     62    create victim9
#     63    write victim9 0 2560 10 7
#     64 P  sync
#     65    open victim9 %victim
#     66    unlink victim9
#     67    write %victim 0 1024 10 8
#     68 P  fsync %victim
#     69    close %victim
#     70    create victim10
#     71 P  sync
#     72    open victim10 %victim
#     73    unlink victim10
#     74 P  fsync %victim
#     75    close %victim
#     76    create victim11
#     77    write victim11 0 512 12 9
#     78 P  sync
#     79    open victim11 %victim
#     80    unlink victim11
#     81    truncate %victim 0
#     82 P  fsync %victim
#     83    close %victim
#     84    create victim12
#     85 P  sync
#     86    open victim12 %victim
#     87    unlink victim12
#     88 P  fsync %victim
#     89    close %victim
#     90    create victim13
#     91    write victim13 0 512 14 10
#     92 P  sync
#     93    open victim13 %victim
#     94    unlink victim13
#     95    write %victim 0 512 14 11
#     96 P  fsync %victim
#     97    close %victim
#     98    create victim14
#     99 P  sync
#    100    open victim14 %victim
#    101    unlink victim14
#    102 P  fsync %victim
#    103    close %victim
#    104    create victim15
#    105    write victim15 0 2048 16 12
#    106 P  sync
#    107    open victim15 %victim
#    108    unlink victim15
#    109    truncate %victim 0
#    110 P  fsync %victim
#    111    close %victim
#    112    create victim16
#    113 P  sync
#    114    open victim16 %victim
#    115    unlink victim16
#    116 P  fsync %victim
#    117    close %victim
#    118    create victim17
#    119    write victim17 0 3072 18 13
#    120 P  sync
#    121    open victim17 %victim
#    122    unlink victim17
#    123    write %victim 0 2048 18 14
#    124 P  fsync %victim
#    125    close %victim
#    126    create victim18
#    127 P  sync
#    128    open victim18 %victim
#    129    unlink victim18
#    130 P  fsync %victim
#    131    close %victim
#    132    create victim19
#    133    write victim19 0 2560 20 15
#    134 P  sync
#    135    open victim19 %victim
#    136    unlink victim19
#    137    truncate %victim 0
#    138 P  fsync %victim
#    139    close %victim
#    140    create victim20
#    141 P  sync
#    142    open victim20 %victim
#    143    unlink victim20
#    144 P  fsync %victim
#    145    close %victim
#    146    create victim21
#    147    write victim21 0 1024 22 16
#    148 P  sync
#    149    open victim21 %victim
#    150    unlink victim21
#    151    write %victim 0 1024 22 17
#    152 P  fsync %victim
#    153    close %victim
#    154    create victim22
#    155 P  sync
#    156    open victim22 %victim
#    157    unlink victim22
#    158 P  fsync %victim
#    159    close %victim
#    160    create victim23
#    161    write victim23 0 1536 24 18
#    162 P  sync
#    163    open victim23 %victim
#    164    unlink victim23
#    165    truncate %victim 0
#    166 P  fsync %victim
#    167    close %victim
#    168    create victim24
#    169 P  sync
#    170    open victim24 %victim
#    171    unlink victim24
#    172 P  fsync %victim
#    173    close %victim
#    174    create victim25
#    175    write victim25 0 2048 26 19
#    176 P  sync
#    177    open victim25 %victim
#    178    unlink victim25
#    179    write %victim 0 512 26 20
#    180 P  fsync %victim
#    181    close %victim
#    182    create victim26
#    183 P  sync
#    184    open victim26 %victim
#    185    unlink victim26
#    186 P  fsync %victim
#    187    close %victim
#    188    create victim27
#    189    write victim27 0 4096 28 21
#    190 P  sync
#    191    open victim27 %victim
#    192    unlink victim27
#    193    truncate %victim 0
#    194 P  fsync %victim
#    195    close %victim
#    196    create victim28
#    197 P  sync
#    198    open victim28 %victim
#    199    unlink victim28
#    200 P  fsync %victim
#    201    close %victim
#    202    create victim29
#    203    write victim29 0 4096 30 22
#    204 P  sync
#    205    open victim29 %victim
#    206    unlink victim29
#    207    write %victim 0 2560 30 23
#    208 P  fsync %victim
#    209    close %victim
#    210    create victim30
#    211 P  sync
#    212    open victim30 %victim
#    213    unlink victim30
#    214 P  fsync %victim
#    215    close %victim
#    216    create victim31
#    217    write victim31 0 2048 32 24
#    218 P  sync
#    219    open victim31 %victim
#    220    unlink victim31
#    221    truncate %victim 0
#    222 P* fsync %victim
#           -- the power may have been cut at any later point
#    223    close %victim
#    224    create victim32
#    225 P  sync
#           == power cut
#         (194 operations that cannot have begun)
#
# Power cut and lost writes
# -------------------------
#   After event 615 of the recording, 4572.378 ms after its start, 0.000 ms after the mark "persisted
#   222".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   victim31    resurrected, tier documented (file 32)
#     expected  no such name
#     found     a file
#
# Recovery
# --------
#   (12 lines before)
#   total tree bytes: 147456
#   total fs tree bytes: 32768
#   total extent tree bytes: 16384
#   btree space waste bytes: 138082
#   file data blocks allocated: 0
#    referenced 0
#   [1/7] checking root items
#   [2/7] checking extents
#   [3/7] checking free space tree
#   [4/7] checking fs roots
#   [5/7] checking only csums items (without verifying data)
#   [6/7] checking root refs
#   [7/7] checking quota groups skipped (not enabled on this FS)
#   exit 0
#   guest: mount
#   BTRFS: device fsid 2245bd5f-bb68-4f68-a2eb-92502318fa4e devid 1 transid 40 /dev/vda scanned by init (1)
#   BTRFS info (device vda): first mount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   BTRFS info (device vda): using crc32c (crc32c-generic) checksum algorithm
#   BTRFS info (device vda): using free space tree
#   BTRFS info (device vda): last unmount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   guest$ btrfs check --readonly /dev/vda
#   Opening filesystem to check...
#   Checking filesystem on /dev/vda
#   UUID: 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   found 147456 bytes used, no error found
#   total csum bytes: 0
#   total tree bytes: 147456
#   total fs tree bytes: 32768
#   total extent tree bytes: 16384
#   btree space waste bytes: 138057
#   file data blocks allocated: 0
#    referenced 0
#   [1/7] checking root items
#   [2/7] checking extents
#   [3/7] checking free space tree
#   [4/7] checking fs roots
#   [5/7] checking only csums items (without verifying data)
#   [6/7] checking root refs
#   [7/7] checking quota groups skipped (not enabled on this FS)
#   exit 0

title='btrfs, defaults, crash state w615-: objects with resurrected: 1, although fsck reported no errors; first: victim31: expected no such name, found a file'
fstype='btrfs'
mount_options=''
replay_by_mount='yes'
kernel_recovers=''
fsck_may_repair=''
replay_words='mount and unmount'
check_words='btrfs check --readonly {device}'
replay() { true; }
replay_good='0'
check() { 'btrfs' 'check' '--readonly' ''"$1"''; }
check_good='0'
repair() { true; }
repair_good='0'
size='335544320'
persisted='222'
one_left_out=''
torn=''
mkfs_words='mkfs.btrfs -q -f -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.btrfs' '-q' '-f' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_no_name 'victim31'
}

operations() {
  :
  step 0 'create victim0' create 'victim0'
  step 1 'sync' sync
  mark 1
  step 2 'open victim0 %victim' true
  command exec 4<> 'victim0' || cannot 'it cannot be opened'
  step 3 'unlink victim0' unlink 'victim0'
  step 4 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 4
  step 5 'close %victim' true
  exec 4>&-
  step 6 'create victim1' create 'victim1'
  step 7 'write victim1 0 512 2 1' write 'victim1' 0 512 1
  step 8 'sync' sync
  mark 8
  step 9 'open victim1 %victim' true
  command exec 4<> 'victim1' || cannot 'it cannot be opened'
  step 10 'unlink victim1' unlink 'victim1'
  step 11 'write %victim 0 3584 2 2' write /proc/self/fd/4 0 3584 2
  step 12 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 12
  step 13 'close %victim' true
  exec 4>&-
  step 14 'create victim2' create 'victim2'
  step 15 'sync' sync
  mark 15
  step 16 'open victim2 %victim' true
  command exec 4<> 'victim2' || cannot 'it cannot be opened'
  step 17 'unlink victim2' unlink 'victim2'
  step 18 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 18
  step 19 'close %victim' true
  exec 4>&-
  step 20 'create victim3' create 'victim3'
  step 21 'write victim3 0 1536 4 3' write 'victim3' 0 1536 3
  step 22 'sync' sync
  mark 22
  step 23 'open victim3 %victim' true
  command exec 4<> 'victim3' || cannot 'it cannot be opened'
  step 24 'unlink victim3' unlink 'victim3'
  step 25 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 26 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 26
  step 27 'close %victim' true
  exec 4>&-
  step 28 'create victim4' create 'victim4'
  step 29 'sync' sync
  mark 29
  step 30 'open victim4 %victim' true
  command exec 4<> 'victim4' || cannot 'it cannot be opened'
  step 31 'unlink victim4' unlink 'victim4'
  step 32 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 32
  step 33 'close %victim' true
  exec 4>&-
  step 34 'create victim5' create 'victim5'
  step 35 'write victim5 0 3584 6 4' write 'victim5' 0 3584 4
  step 36 'sync' sync
  mark 36
  step 37 'open victim5 %victim' true
  command exec 4<> 'victim5' || cannot 'it cannot be opened'
  step 38 'unlink victim5' unlink 'victim5'
  step 39 'write %victim 0 512 6 5' write /proc/self/fd/4 0 512 5
  step 40 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 40
  step 41 'close %victim' true
  exec 4>&-
  step 42 'create victim6' create 'victim6'
  step 43 'sync' sync
  mark 43
  step 44 'open victim6 %victim' true
  command exec 4<> 'victim6' || cannot 'it cannot be opened'
  step 45 'unlink victim6' unlink 'victim6'
  step 46 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 46
  step 47 'close %victim' true
  exec 4>&-
  step 48 'create victim7' create 'victim7'
  step 49 'write victim7 0 1024 8 6' write 'victim7' 0 1024 6
  step 50 'sync' sync
  mark 50
  step 51 'open victim7 %victim' true
  command exec 4<> 'victim7' || cannot 'it cannot be opened'
  step 52 'unlink victim7' unlink 'victim7'
  step 53 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 54 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 54
  step 55 'close %victim' true
  exec 4>&-
  step 56 'create victim8' create 'victim8'
  step 57 'sync' sync
  mark 57
  step 58 'open victim8 %victim' true
  command exec 4<> 'victim8' || cannot 'it cannot be opened'
  step 59 'unlink victim8' unlink 'victim8'
  step 60 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 60
  step 61 'close %victim' true
  exec 4>&-
  step 62 'create victim9' create 'victim9'
  step 63 'write victim9 0 2560 10 7' write 'victim9' 0 2560 7
  step 64 'sync' sync
  mark 64
  step 65 'open victim9 %victim' true
  command exec 4<> 'victim9' || cannot 'it cannot be opened'
  step 66 'unlink victim9' unlink 'victim9'
  step 67 'write %victim 0 1024 10 8' write /proc/self/fd/4 0 1024 8
  step 68 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 68
  step 69 'close %victim' true
  exec 4>&-
  step 70 'create victim10' create 'victim10'
  step 71 'sync' sync
  mark 71
  step 72 'open victim10 %victim' true
  command exec 4<> 'victim10' || cannot 'it cannot be opened'
  step 73 'unlink victim10' unlink 'victim10'
  step 74 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 74
  step 75 'close %victim' true
  exec 4>&-
  step 76 'create victim11' create 'victim11'
  step 77 'write victim11 0 512 12 9' write 'victim11' 0 512 9
  step 78 'sync' sync
  mark 78
  step 79 'open victim11 %victim' true
  command exec 4<> 'victim11' || cannot 'it cannot be opened'
  step 80 'unlink victim11' unlink 'victim11'
  step 81 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 82 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 82
  step 83 'close %victim' true
  exec 4>&-
  step 84 'create victim12' create 'victim12'
  step 85 'sync' sync
  mark 85
  step 86 'open victim12 %victim' true
  command exec 4<> 'victim12' || cannot 'it cannot be opened'
  step 87 'unlink victim12' unlink 'victim12'
  step 88 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 88
  step 89 'close %victim' true
  exec 4>&-
  step 90 'create victim13' create 'victim13'
  step 91 'write victim13 0 512 14 10' write 'victim13' 0 512 10
  step 92 'sync' sync
  mark 92
  step 93 'open victim13 %victim' true
  command exec 4<> 'victim13' || cannot 'it cannot be opened'
  step 94 'unlink victim13' unlink 'victim13'
  step 95 'write %victim 0 512 14 11' write /proc/self/fd/4 0 512 11
  step 96 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 96
  step 97 'close %victim' true
  exec 4>&-
  step 98 'create victim14' create 'victim14'
  step 99 'sync' sync
  mark 99
  step 100 'open victim14 %victim' true
  command exec 4<> 'victim14' || cannot 'it cannot be opened'
  step 101 'unlink victim14' unlink 'victim14'
  step 102 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 102
  step 103 'close %victim' true
  exec 4>&-
  step 104 'create victim15' create 'victim15'
  step 105 'write victim15 0 2048 16 12' write 'victim15' 0 2048 12
  step 106 'sync' sync
  mark 106
  step 107 'open victim15 %victim' true
  command exec 4<> 'victim15' || cannot 'it cannot be opened'
  step 108 'unlink victim15' unlink 'victim15'
  step 109 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 110 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 110
  step 111 'close %victim' true
  exec 4>&-
  step 112 'create victim16' create 'victim16'
  step 113 'sync' sync
  mark 113
  step 114 'open victim16 %victim' true
  command exec 4<> 'victim16' || cannot 'it cannot be opened'
  step 115 'unlink victim16' unlink 'victim16'
  step 116 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 116
  step 117 'close %victim' true
  exec 4>&-
  step 118 'create victim17' create 'victim17'
  step 119 'write victim17 0 3072 18 13' write 'victim17' 0 3072 13
  step 120 'sync' sync
  mark 120
  step 121 'open victim17 %victim' true
  command exec 4<> 'victim17' || cannot 'it cannot be opened'
  step 122 'unlink victim17' unlink 'victim17'
  step 123 'write %victim 0 2048 18 14' write /proc/self/fd/4 0 2048 14
  step 124 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 124
  step 125 'close %victim' true
  exec 4>&-
  step 126 'create victim18' create 'victim18'
  step 127 'sync' sync
  mark 127
  step 128 'open victim18 %victim' true
  command exec 4<> 'victim18' || cannot 'it cannot be opened'
  step 129 'unlink victim18' unlink 'victim18'
  step 130 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 130
  step 131 'close %victim' true
  exec 4>&-
  step 132 'create victim19' create 'victim19'
  step 133 'write victim19 0 2560 20 15' write 'victim19' 0 2560 15
  step 134 'sync' sync
  mark 134
  step 135 'open victim19 %victim' true
  command exec 4<> 'victim19' || cannot 'it cannot be opened'
  step 136 'unlink victim19' unlink 'victim19'
  step 137 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 138 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 138
  step 139 'close %victim' true
  exec 4>&-
  step 140 'create victim20' create 'victim20'
  step 141 'sync' sync
  mark 141
  step 142 'open victim20 %victim' true
  command exec 4<> 'victim20' || cannot 'it cannot be opened'
  step 143 'unlink victim20' unlink 'victim20'
  step 144 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 144
  step 145 'close %victim' true
  exec 4>&-
  step 146 'create victim21' create 'victim21'
  step 147 'write victim21 0 1024 22 16' write 'victim21' 0 1024 16
  step 148 'sync' sync
  mark 148
  step 149 'open victim21 %victim' true
  command exec 4<> 'victim21' || cannot 'it cannot be opened'
  step 150 'unlink victim21' unlink 'victim21'
  step 151 'write %victim 0 1024 22 17' write /proc/self/fd/4 0 1024 17
  step 152 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 152
  step 153 'close %victim' true
  exec 4>&-
  step 154 'create victim22' create 'victim22'
  step 155 'sync' sync
  mark 155
  step 156 'open victim22 %victim' true
  command exec 4<> 'victim22' || cannot 'it cannot be opened'
  step 157 'unlink victim22' unlink 'victim22'
  step 158 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 158
  step 159 'close %victim' true
  exec 4>&-
  step 160 'create victim23' create 'victim23'
  step 161 'write victim23 0 1536 24 18' write 'victim23' 0 1536 18
  step 162 'sync' sync
  mark 162
  step 163 'open victim23 %victim' true
  command exec 4<> 'victim23' || cannot 'it cannot be opened'
  step 164 'unlink victim23' unlink 'victim23'
  step 165 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 166 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 166
  step 167 'close %victim' true
  exec 4>&-
  step 168 'create victim24' create 'victim24'
  step 169 'sync' sync
  mark 169
  step 170 'open victim24 %victim' true
  command exec 4<> 'victim24' || cannot 'it cannot be opened'
  step 171 'unlink victim24' unlink 'victim24'
  step 172 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 172
  step 173 'close %victim' true
  exec 4>&-
  step 174 'create victim25' create 'victim25'
  step 175 'write victim25 0 2048 26 19' write 'victim25' 0 2048 19
  step 176 'sync' sync
  mark 176
  step 177 'open victim25 %victim' true
  command exec 4<> 'victim25' || cannot 'it cannot be opened'
  step 178 'unlink victim25' unlink 'victim25'
  step 179 'write %victim 0 512 26 20' write /proc/self/fd/4 0 512 20
  step 180 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 180
  step 181 'close %victim' true
  exec 4>&-
  step 182 'create victim26' create 'victim26'
  step 183 'sync' sync
  mark 183
  step 184 'open victim26 %victim' true
  command exec 4<> 'victim26' || cannot 'it cannot be opened'
  step 185 'unlink victim26' unlink 'victim26'
  step 186 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 186
  step 187 'close %victim' true
  exec 4>&-
  step 188 'create victim27' create 'victim27'
  step 189 'write victim27 0 4096 28 21' write 'victim27' 0 4096 21
  step 190 'sync' sync
  mark 190
  step 191 'open victim27 %victim' true
  command exec 4<> 'victim27' || cannot 'it cannot be opened'
  step 192 'unlink victim27' unlink 'victim27'
  step 193 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 194 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 194
  step 195 'close %victim' true
  exec 4>&-
  step 196 'create victim28' create 'victim28'
  step 197 'sync' sync
  mark 197
  step 198 'open victim28 %victim' true
  command exec 4<> 'victim28' || cannot 'it cannot be opened'
  step 199 'unlink victim28' unlink 'victim28'
  step 200 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 200
  step 201 'close %victim' true
  exec 4>&-
  step 202 'create victim29' create 'victim29'
  step 203 'write victim29 0 4096 30 22' write 'victim29' 0 4096 22
  step 204 'sync' sync
  mark 204
  step 205 'open victim29 %victim' true
  command exec 4<> 'victim29' || cannot 'it cannot be opened'
  step 206 'unlink victim29' unlink 'victim29'
  step 207 'write %victim 0 2560 30 23' write /proc/self/fd/4 0 2560 23
  step 208 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 208
  step 209 'close %victim' true
  exec 4>&-
  step 210 'create victim30' create 'victim30'
  step 211 'sync' sync
  mark 211
  step 212 'open victim30 %victim' true
  command exec 4<> 'victim30' || cannot 'it cannot be opened'
  step 213 'unlink victim30' unlink 'victim30'
  step 214 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 214
  step 215 'close %victim' true
  exec 4>&-
  step 216 'create victim31' create 'victim31'
  step 217 'write victim31 0 2048 32 24' write 'victim31' 0 2048 24
  step 218 'sync' sync
  mark 218
  step 219 'open victim31 %victim' true
  command exec 4<> 'victim31' || cannot 'it cannot be opened'
  step 220 'unlink victim31' unlink 'victim31'
  step 221 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 222 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 222
  step 223 'close %victim' true
  exec 4>&-
  step 224 'create victim32' create 'victim32'
  step 225 'sync' sync
  mark 225
  step 226 'open victim32 %victim' true
  command exec 4<> 'victim32' || cannot 'it cannot be opened'
  step 227 'unlink victim32' unlink 'victim32'
  step 228 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 228
  step 229 'close %victim' true
  exec 4>&-
  step 230 'create victim33' create 'victim33'
  step 231 'write victim33 0 2048 34 25' write 'victim33' 0 2048 25
  step 232 'sync' sync
  mark 232
  step 233 'open victim33 %victim' true
  command exec 4<> 'victim33' || cannot 'it cannot be opened'
  step 234 'unlink victim33' unlink 'victim33'
  step 235 'write %victim 0 1536 34 26' write /proc/self/fd/4 0 1536 26
  step 236 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 236
  step 237 'close %victim' true
  exec 4>&-
  step 238 'create victim34' create 'victim34'
  step 239 'sync' sync
  mark 239
  step 240 'open victim34 %victim' true
  command exec 4<> 'victim34' || cannot 'it cannot be opened'
  step 241 'unlink victim34' unlink 'victim34'
  step 242 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 242
  step 243 'close %victim' true
  exec 4>&-
  step 244 'create victim35' create 'victim35'
  step 245 'write victim35 0 2048 36 27' write 'victim35' 0 2048 27
  step 246 'sync' sync
  mark 246
  step 247 'open victim35 %victim' true
  command exec 4<> 'victim35' || cannot 'it cannot be opened'
  step 248 'unlink victim35' unlink 'victim35'
  step 249 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 250 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 250
  step 251 'close %victim' true
  exec 4>&-
  step 252 'create victim36' create 'victim36'
  step 253 'sync' sync
  mark 253
  step 254 'open victim36 %victim' true
  command exec 4<> 'victim36' || cannot 'it cannot be opened'
  step 255 'unlink victim36' unlink 'victim36'
  step 256 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 256
  step 257 'close %victim' true
  exec 4>&-
  step 258 'create victim37' create 'victim37'
  step 259 'write victim37 0 1024 38 28' write 'victim37' 0 1024 28
  step 260 'sync' sync
  mark 260
  step 261 'open victim37 %victim' true
  command exec 4<> 'victim37' || cannot 'it cannot be opened'
  step 262 'unlink victim37' unlink 'victim37'
  step 263 'write %victim 0 512 38 29' write /proc/self/fd/4 0 512 29
  step 264 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 264
  step 265 'close %victim' true
  exec 4>&-
  step 266 'create victim38' create 'victim38'
  step 267 'sync' sync
  mark 267
  step 268 'open victim38 %victim' true
  command exec 4<> 'victim38' || cannot 'it cannot be opened'
  step 269 'unlink victim38' unlink 'victim38'
  step 270 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 270
  step 271 'close %victim' true
  exec 4>&-
  step 272 'create victim39' create 'victim39'
  step 273 'write victim39 0 1536 40 30' write 'victim39' 0 1536 30
  step 274 'sync' sync
  mark 274
  step 275 'open victim39 %victim' true
  command exec 4<> 'victim39' || cannot 'it cannot be opened'
  step 276 'unlink victim39' unlink 'victim39'
  step 277 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 278 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 278
  step 279 'close %victim' true
  exec 4>&-
  step 280 'create victim40' create 'victim40'
  step 281 'sync' sync
  mark 281
  step 282 'open victim40 %victim' true
  command exec 4<> 'victim40' || cannot 'it cannot be opened'
  step 283 'unlink victim40' unlink 'victim40'
  step 284 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 284
  step 285 'close %victim' true
  exec 4>&-
  step 286 'create victim41' create 'victim41'
  step 287 'write victim41 0 4096 42 31' write 'victim41' 0 4096 31
  step 288 'sync' sync
  mark 288
  step 289 'open victim41 %victim' true
  command exec 4<> 'victim41' || cannot 'it cannot be opened'
  step 290 'unlink victim41' unlink 'victim41'
  step 291 'write %victim 0 3072 42 32' write /proc/self/fd/4 0 3072 32
  step 292 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 292
  step 293 'close %victim' true
  exec 4>&-
  step 294 'create victim42' create 'victim42'
  step 295 'sync' sync
  mark 295
  step 296 'open victim42 %victim' true
  command exec 4<> 'victim42' || cannot 'it cannot be opened'
  step 297 'unlink victim42' unlink 'victim42'
  step 298 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 298
  step 299 'close %victim' true
  exec 4>&-
  step 300 'create victim43' create 'victim43'
  step 301 'write victim43 0 1024 44 33' write 'victim43' 0 1024 33
  step 302 'sync' sync
  mark 302
  step 303 'open victim43 %victim' true
  command exec 4<> 'victim43' || cannot 'it cannot be opened'
  step 304 'unlink victim43' unlink 'victim43'
  step 305 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 306 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 306
  step 307 'close %victim' true
  exec 4>&-
  step 308 'create victim44' create 'victim44'
  step 309 'sync' sync
  mark 309
  step 310 'open victim44 %victim' true
  command exec 4<> 'victim44' || cannot 'it cannot be opened'
  step 311 'unlink victim44' unlink 'victim44'
  step 312 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 312
  step 313 'close %victim' true
  exec 4>&-
  step 314 'create victim45' create 'victim45'
  step 315 'write victim45 0 2560 46 34' write 'victim45' 0 2560 34
  step 316 'sync' sync
  mark 316
  step 317 'open victim45 %victim' true
  command exec 4<> 'victim45' || cannot 'it cannot be opened'
  step 318 'unlink victim45' unlink 'victim45'
  step 319 'write %victim 0 3584 46 35' write /proc/self/fd/4 0 3584 35
  step 320 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 320
  step 321 'close %victim' true
  exec 4>&-
  step 322 'create victim46' create 'victim46'
  step 323 'sync' sync
  mark 323
  step 324 'open victim46 %victim' true
  command exec 4<> 'victim46' || cannot 'it cannot be opened'
  step 325 'unlink victim46' unlink 'victim46'
  step 326 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 326
  step 327 'close %victim' true
  exec 4>&-
  step 328 'create victim47' create 'victim47'
  step 329 'write victim47 0 2560 48 36' write 'victim47' 0 2560 36
  step 330 'sync' sync
  mark 330
  step 331 'open victim47 %victim' true
  command exec 4<> 'victim47' || cannot 'it cannot be opened'
  step 332 'unlink victim47' unlink 'victim47'
  step 333 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 334 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 334
  step 335 'close %victim' true
  exec 4>&-
  step 336 'create victim48' create 'victim48'
  step 337 'sync' sync
  mark 337
  step 338 'open victim48 %victim' true
  command exec 4<> 'victim48' || cannot 'it cannot be opened'
  step 339 'unlink victim48' unlink 'victim48'
  step 340 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 340
  step 341 'close %victim' true
  exec 4>&-
  step 342 'create victim49' create 'victim49'
  step 343 'write victim49 0 1536 50 37' write 'victim49' 0 1536 37
  step 344 'sync' sync
  mark 344
  step 345 'open victim49 %victim' true
  command exec 4<> 'victim49' || cannot 'it cannot be opened'
  step 346 'unlink victim49' unlink 'victim49'
  step 347 'write %victim 0 2048 50 38' write /proc/self/fd/4 0 2048 38
  step 348 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 348
  step 349 'close %victim' true
  exec 4>&-
  step 350 'create victim50' create 'victim50'
  step 351 'sync' sync
  mark 351
  step 352 'open victim50 %victim' true
  command exec 4<> 'victim50' || cannot 'it cannot be opened'
  step 353 'unlink victim50' unlink 'victim50'
  step 354 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 354
  step 355 'close %victim' true
  exec 4>&-
  step 356 'create victim51' create 'victim51'
  step 357 'write victim51 0 3072 52 39' write 'victim51' 0 3072 39
  step 358 'sync' sync
  mark 358
  step 359 'open victim51 %victim' true
  command exec 4<> 'victim51' || cannot 'it cannot be opened'
  step 360 'unlink victim51' unlink 'victim51'
  step 361 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 362 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 362
  step 363 'close %victim' true
  exec 4>&-
  step 364 'create victim52' create 'victim52'
  step 365 'sync' sync
  mark 365
  step 366 'open victim52 %victim' true
  command exec 4<> 'victim52' || cannot 'it cannot be opened'
  step 367 'unlink victim52' unlink 'victim52'
  step 368 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 368
  step 369 'close %victim' true
  exec 4>&-
  step 370 'create victim53' create 'victim53'
  step 371 'write victim53 0 2560 54 40' write 'victim53' 0 2560 40
  step 372 'sync' sync
  mark 372
  step 373 'open victim53 %victim' true
  command exec 4<> 'victim53' || cannot 'it cannot be opened'
  step 374 'unlink victim53' unlink 'victim53'
  step 375 'write %victim 0 512 54 41' write /proc/self/fd/4 0 512 41
  step 376 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 376
  step 377 'close %victim' true
  exec 4>&-
  step 378 'create victim54' create 'victim54'
  step 379 'sync' sync
  mark 379
  step 380 'open victim54 %victim' true
  command exec 4<> 'victim54' || cannot 'it cannot be opened'
  step 381 'unlink victim54' unlink 'victim54'
  step 382 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 382
  step 383 'close %victim' true
  exec 4>&-
  step 384 'create victim55' create 'victim55'
  step 385 'write victim55 0 512 56 42' write 'victim55' 0 512 42
  step 386 'sync' sync
  mark 386
  step 387 'open victim55 %victim' true
  command exec 4<> 'victim55' || cannot 'it cannot be opened'
  step 388 'unlink victim55' unlink 'victim55'
  step 389 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 390 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 390
  step 391 'close %victim' true
  exec 4>&-
  step 392 'create victim56' create 'victim56'
  step 393 'sync' sync
  mark 393
  step 394 'open victim56 %victim' true
  command exec 4<> 'victim56' || cannot 'it cannot be opened'
  step 395 'unlink victim56' unlink 'victim56'
  step 396 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 396
  step 397 'close %victim' true
  exec 4>&-
  step 398 'create victim57' create 'victim57'
  step 399 'write victim57 0 512 58 43' write 'victim57' 0 512 43
  step 400 'sync' sync
  mark 400
  step 401 'open victim57 %victim' true
  command exec 4<> 'victim57' || cannot 'it cannot be opened'
  step 402 'unlink victim57' unlink 'victim57'
  step 403 'write %victim 0 3072 58 44' write /proc/self/fd/4 0 3072 44
  step 404 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 404
  step 405 'close %victim' true
  exec 4>&-
  step 406 'create victim58' create 'victim58'
  step 407 'sync' sync
  mark 407
  step 408 'open victim58 %victim' true
  command exec 4<> 'victim58' || cannot 'it cannot be opened'
  step 409 'unlink victim58' unlink 'victim58'
  step 410 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 410
  step 411 'close %victim' true
  exec 4>&-
  step 412 'create victim59' create 'victim59'
  step 413 'write victim59 0 2048 60 45' write 'victim59' 0 2048 45
  step 414 'sync' sync
  mark 414
  step 415 'open victim59 %victim' true
  command exec 4<> 'victim59' || cannot 'it cannot be opened'
  step 416 'unlink victim59' unlink 'victim59'
  step 417 'truncate %victim 0' io -c 'truncate 0' /proc/self/fd/4
  step 418 'fsync %victim' io -c fsync /proc/self/fd/4
  mark 418
  step 419 'close %victim' true
  exec 4>&-
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
