#!/bin/sh
# btrfs: lost-synced-data (posix)
# ===============================
# objects with lost-synced-data: 32, although fsck reported no errors; first: d0/new: expected the
# name to be there, found no such name
#
# file system  btrfs, defaults
# made by      mkfs.btrfs -q -f -U {uuid} {device}
# crash state  w709- of workload.hcrec
#
# Operations
# ----------
#   P: promises persistence    *: the last operation that is known to have succeeded before the cut
#
#      0    mkdir d0
#      1    symlink nowhere d0/old
#      2 P  fsyncdir d0
#      3    rename d0/old d0/new
#      4 P  fsyncdir d0
#      5    mkdir d1
#      6    symlink nowhere d1/old
#      7 P  fsyncdir d1
#      8    rename d1/old d1/new
#      9 P  fsyncdir d1
#     10    mkdir d2
#     11    symlink nowhere d2/old
#     12 P  fsyncdir d2
#     13    rename d2/old d2/new
#     14 P  fsyncdir d2
#     15    mkdir d3
#     16    symlink nowhere d3/old
#     17 P  fsyncdir d3
#     18    rename d3/old d3/new
#     19 P  fsyncdir d3
#     20    mkdir d4
#     21    symlink nowhere d4/old
#     22 P  fsyncdir d4
#     23    rename d4/old d4/new
#     24 P  fsyncdir d4
#     25    mkdir d5
#     26    symlink nowhere d5/old
#     27 P  fsyncdir d5
#     28    rename d5/old d5/new
#     29 P  fsyncdir d5
#     30    mkdir d6
#     31    symlink nowhere d6/old
#     32 P  fsyncdir d6
#     33    rename d6/old d6/new
#     34 P  fsyncdir d6
#     35    mkdir d7
#     36    symlink nowhere d7/old
#     37 P  fsyncdir d7
#     38    rename d7/old d7/new
#     39 P  fsyncdir d7
#     40    mkdir d8
#     41    symlink nowhere d8/old
#     42 P  fsyncdir d8
#     43    rename d8/old d8/new
#     44 P  fsyncdir d8
#     45    mkdir d9
#     46    symlink nowhere d9/old
#     47 P  fsyncdir d9
#     48    rename d9/old d9/new
#     49 P  fsyncdir d9
#     50    mkdir d10
#     51    symlink nowhere d10/old
#     52 P  fsyncdir d10
#     53    rename d10/old d10/new
#     54 P  fsyncdir d10
#     55    mkdir d11
#     56    symlink nowhere d11/old
#     57 P  fsyncdir d11
#     58    rename d11/old d11/new
#     59 P  fsyncdir d11
#     60    mkdir d12
#     61    symlink nowhere d12/old
#     62 P  fsyncdir d12
#     63    rename d12/old d12/new
#     64 P  fsyncdir d12
#     65    mkdir d13
#     66    symlink nowhere d13/old
#     67 P  fsyncdir d13
#     68    rename d13/old d13/new
#     69 P  fsyncdir d13
#     70    mkdir d14
#     71    symlink nowhere d14/old
#     72 P  fsyncdir d14
#     73    rename d14/old d14/new
#     74 P  fsyncdir d14
#     75    mkdir d15
#     76    symlink nowhere d15/old
#     77 P  fsyncdir d15
#     78    rename d15/old d15/new
#     79 P  fsyncdir d15
#     80    mkdir d16
#     81    symlink nowhere d16/old
#     82 P  fsyncdir d16
#     83    rename d16/old d16/new
#     84 P  fsyncdir d16
#     85    mkdir d17
#     86    symlink nowhere d17/old
#     87 P  fsyncdir d17
#     88    rename d17/old d17/new
#     89 P  fsyncdir d17
#     90    mkdir d18
#     91    symlink nowhere d18/old
#     92 P  fsyncdir d18
#     93    rename d18/old d18/new
#     94 P  fsyncdir d18
#     95    mkdir d19
#     96    symlink nowhere d19/old
#     97 P  fsyncdir d19
#     98    rename d19/old d19/new
#     99 P  fsyncdir d19
#    100    mkdir d20
#    101    symlink nowhere d20/old
#    102 P  fsyncdir d20
#    103    rename d20/old d20/new
#    104 P  fsyncdir d20
#    105    mkdir d21
#    106    symlink nowhere d21/old
#    107 P  fsyncdir d21
#    108    rename d21/old d21/new
#    109 P  fsyncdir d21
#    110    mkdir d22
#    111    symlink nowhere d22/old
#    112 P  fsyncdir d22
#    113    rename d22/old d22/new
#    114 P  fsyncdir d22
#    115    mkdir d23
#    116    symlink nowhere d23/old
#    117 P  fsyncdir d23
#    118    rename d23/old d23/new
#    119 P  fsyncdir d23
#    120    mkdir d24
#    121    symlink nowhere d24/old
#    122 P  fsyncdir d24
#    123    rename d24/old d24/new
#    124 P  fsyncdir d24
#    125    mkdir d25
#    126    symlink nowhere d25/old
#    127 P  fsyncdir d25
#    128    rename d25/old d25/new
#    129 P  fsyncdir d25
#    130    mkdir d26
#    131    symlink nowhere d26/old
#    132 P  fsyncdir d26
#    133    rename d26/old d26/new
#    134 P  fsyncdir d26
#    135    mkdir d27
#    136    symlink nowhere d27/old
#    137 P  fsyncdir d27
#    138    rename d27/old d27/new
#    139 P  fsyncdir d27
#    140    mkdir d28
#    141    symlink nowhere d28/old
#    142 P  fsyncdir d28
#    143    rename d28/old d28/new
#    144 P  fsyncdir d28
#    145    mkdir d29
#    146    symlink nowhere d29/old
#    147 P  fsyncdir d29
#    148    rename d29/old d29/new
#    149 P  fsyncdir d29
#    150    mkdir d30
#    151    symlink nowhere d30/old
#    152 P  fsyncdir d30
#    153    rename d30/old d30/new
#    154 P  fsyncdir d30
#    155    mkdir d31
#    156    symlink nowhere d31/old
#    157 P  fsyncdir d31
#    158    rename d31/old d31/new
#    159 P* fsyncdir d31
#           -- the power may have been cut at any later point
#    160    mkdir d32
#    161    symlink nowhere d32/old
#    162 P  fsyncdir d32
#           == power cut
#         (137 operations that cannot have begun)
#
# Power cut and lost writes
# -------------------------
#   After event 709 of the recording, 4886.474 ms after its start, 0.000 ms after the mark "persisted
#   159".
#   unflushed writes 0; lost or torn 0
#
# Expected and found
# ------------------
#   d0/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d0/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d1/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d1/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d10/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d10/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d11/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d11/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d12/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d12/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d13/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d13/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d14/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d14/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d15/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d15/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d16/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d16/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   d17/new    lost-synced-data, tier posix
#     expected  the name to be there
#     found     no such name
#   d17/old    resurrected, tier posix
#     expected  no such name
#     found     a symbolic link
#   and 44 more
#
# Recovery
# --------
#   (14 lines before)
#   total tree bytes: 180224
#   total fs tree bytes: 65536
#   total extent tree bytes: 16384
#   btree space waste bytes: 149488
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
#   BTRFS: device fsid 2245bd5f-bb68-4f68-a2eb-92502318fa4e devid 1 transid 9 /dev/vda scanned by init (1)
#   BTRFS info (device vda): first mount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   BTRFS info (device vda): using crc32c (crc32c-generic) checksum algorithm
#   BTRFS info (device vda): using free space tree
#   BTRFS info (device vda): last unmount of filesystem 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   guest$ btrfs check --readonly /dev/vda
#   Opening filesystem to check...
#   Checking filesystem on /dev/vda
#   UUID: 2245bd5f-bb68-4f68-a2eb-92502318fa4e
#   found 180224 bytes used, no error found
#   total csum bytes: 0
#   total tree bytes: 180224
#   total fs tree bytes: 65536
#   total extent tree bytes: 16384
#   btree space waste bytes: 149513
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

title='btrfs, defaults, crash state w709-: objects with lost-synced-data: 32, although fsck reported no errors; first: d0/new: expected the name to be there, found no such name'
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
persisted='159'
one_left_out=''
torn=''
mkfs_words='mkfs.btrfs -q -f -U 2245bd5f-bb68-4f68-a2eb-92502318fa4e {device}'
mkfs() { 'mkfs.btrfs' '-q' '-f' '-U' '2245bd5f-bb68-4f68-a2eb-92502318fa4e' ''"$1"''; }
mkfs_good='0'
checks() {
  :
  expect_name 'd0/new'
  expect_no_name 'd0/old'
  expect_name 'd1/new'
  expect_no_name 'd1/old'
  expect_name 'd10/new'
  expect_no_name 'd10/old'
  expect_name 'd11/new'
  expect_no_name 'd11/old'
  expect_name 'd12/new'
  expect_no_name 'd12/old'
  expect_name 'd13/new'
  expect_no_name 'd13/old'
  expect_name 'd14/new'
  expect_no_name 'd14/old'
  expect_name 'd15/new'
  expect_no_name 'd15/old'
  expect_name 'd16/new'
  expect_no_name 'd16/old'
  expect_name 'd17/new'
  expect_no_name 'd17/old'
  expect_name 'd18/new'
  expect_no_name 'd18/old'
  expect_name 'd19/new'
  expect_no_name 'd19/old'
  expect_name 'd2/new'
  expect_no_name 'd2/old'
  expect_name 'd20/new'
  expect_no_name 'd20/old'
  expect_name 'd21/new'
  expect_no_name 'd21/old'
  expect_name 'd22/new'
  expect_no_name 'd22/old'
  expect_name 'd23/new'
  expect_no_name 'd23/old'
  expect_name 'd24/new'
  expect_no_name 'd24/old'
  expect_name 'd25/new'
  expect_no_name 'd25/old'
  expect_name 'd26/new'
  expect_no_name 'd26/old'
  expect_name 'd27/new'
  expect_no_name 'd27/old'
  expect_name 'd28/new'
  expect_no_name 'd28/old'
  expect_name 'd29/new'
  expect_no_name 'd29/old'
  expect_name 'd3/new'
  expect_no_name 'd3/old'
  expect_name 'd30/new'
  expect_no_name 'd30/old'
  expect_name 'd31/new'
  expect_no_name 'd31/old'
  expect_name 'd4/new'
  expect_no_name 'd4/old'
  expect_name 'd5/new'
  expect_no_name 'd5/old'
  expect_name 'd6/new'
  expect_no_name 'd6/old'
  expect_name 'd7/new'
  expect_no_name 'd7/old'
  expect_name 'd8/new'
  expect_no_name 'd8/old'
  expect_name 'd9/new'
  expect_no_name 'd9/old'
}

operations() {
  :
  step 0 'mkdir d0' mkdir 'd0'
  step 1 'symlink nowhere d0/old' ln -sT 'nowhere' 'd0/old'
  step 2 'fsyncdir d0' io -c fsync 'd0'
  mark 2
  step 3 'rename d0/old d0/new' rename_flags 'd0/old' 'd0/new' 0
  step 4 'fsyncdir d0' io -c fsync 'd0'
  mark 4
  step 5 'mkdir d1' mkdir 'd1'
  step 6 'symlink nowhere d1/old' ln -sT 'nowhere' 'd1/old'
  step 7 'fsyncdir d1' io -c fsync 'd1'
  mark 7
  step 8 'rename d1/old d1/new' rename_flags 'd1/old' 'd1/new' 0
  step 9 'fsyncdir d1' io -c fsync 'd1'
  mark 9
  step 10 'mkdir d2' mkdir 'd2'
  step 11 'symlink nowhere d2/old' ln -sT 'nowhere' 'd2/old'
  step 12 'fsyncdir d2' io -c fsync 'd2'
  mark 12
  step 13 'rename d2/old d2/new' rename_flags 'd2/old' 'd2/new' 0
  step 14 'fsyncdir d2' io -c fsync 'd2'
  mark 14
  step 15 'mkdir d3' mkdir 'd3'
  step 16 'symlink nowhere d3/old' ln -sT 'nowhere' 'd3/old'
  step 17 'fsyncdir d3' io -c fsync 'd3'
  mark 17
  step 18 'rename d3/old d3/new' rename_flags 'd3/old' 'd3/new' 0
  step 19 'fsyncdir d3' io -c fsync 'd3'
  mark 19
  step 20 'mkdir d4' mkdir 'd4'
  step 21 'symlink nowhere d4/old' ln -sT 'nowhere' 'd4/old'
  step 22 'fsyncdir d4' io -c fsync 'd4'
  mark 22
  step 23 'rename d4/old d4/new' rename_flags 'd4/old' 'd4/new' 0
  step 24 'fsyncdir d4' io -c fsync 'd4'
  mark 24
  step 25 'mkdir d5' mkdir 'd5'
  step 26 'symlink nowhere d5/old' ln -sT 'nowhere' 'd5/old'
  step 27 'fsyncdir d5' io -c fsync 'd5'
  mark 27
  step 28 'rename d5/old d5/new' rename_flags 'd5/old' 'd5/new' 0
  step 29 'fsyncdir d5' io -c fsync 'd5'
  mark 29
  step 30 'mkdir d6' mkdir 'd6'
  step 31 'symlink nowhere d6/old' ln -sT 'nowhere' 'd6/old'
  step 32 'fsyncdir d6' io -c fsync 'd6'
  mark 32
  step 33 'rename d6/old d6/new' rename_flags 'd6/old' 'd6/new' 0
  step 34 'fsyncdir d6' io -c fsync 'd6'
  mark 34
  step 35 'mkdir d7' mkdir 'd7'
  step 36 'symlink nowhere d7/old' ln -sT 'nowhere' 'd7/old'
  step 37 'fsyncdir d7' io -c fsync 'd7'
  mark 37
  step 38 'rename d7/old d7/new' rename_flags 'd7/old' 'd7/new' 0
  step 39 'fsyncdir d7' io -c fsync 'd7'
  mark 39
  step 40 'mkdir d8' mkdir 'd8'
  step 41 'symlink nowhere d8/old' ln -sT 'nowhere' 'd8/old'
  step 42 'fsyncdir d8' io -c fsync 'd8'
  mark 42
  step 43 'rename d8/old d8/new' rename_flags 'd8/old' 'd8/new' 0
  step 44 'fsyncdir d8' io -c fsync 'd8'
  mark 44
  step 45 'mkdir d9' mkdir 'd9'
  step 46 'symlink nowhere d9/old' ln -sT 'nowhere' 'd9/old'
  step 47 'fsyncdir d9' io -c fsync 'd9'
  mark 47
  step 48 'rename d9/old d9/new' rename_flags 'd9/old' 'd9/new' 0
  step 49 'fsyncdir d9' io -c fsync 'd9'
  mark 49
  step 50 'mkdir d10' mkdir 'd10'
  step 51 'symlink nowhere d10/old' ln -sT 'nowhere' 'd10/old'
  step 52 'fsyncdir d10' io -c fsync 'd10'
  mark 52
  step 53 'rename d10/old d10/new' rename_flags 'd10/old' 'd10/new' 0
  step 54 'fsyncdir d10' io -c fsync 'd10'
  mark 54
  step 55 'mkdir d11' mkdir 'd11'
  step 56 'symlink nowhere d11/old' ln -sT 'nowhere' 'd11/old'
  step 57 'fsyncdir d11' io -c fsync 'd11'
  mark 57
  step 58 'rename d11/old d11/new' rename_flags 'd11/old' 'd11/new' 0
  step 59 'fsyncdir d11' io -c fsync 'd11'
  mark 59
  step 60 'mkdir d12' mkdir 'd12'
  step 61 'symlink nowhere d12/old' ln -sT 'nowhere' 'd12/old'
  step 62 'fsyncdir d12' io -c fsync 'd12'
  mark 62
  step 63 'rename d12/old d12/new' rename_flags 'd12/old' 'd12/new' 0
  step 64 'fsyncdir d12' io -c fsync 'd12'
  mark 64
  step 65 'mkdir d13' mkdir 'd13'
  step 66 'symlink nowhere d13/old' ln -sT 'nowhere' 'd13/old'
  step 67 'fsyncdir d13' io -c fsync 'd13'
  mark 67
  step 68 'rename d13/old d13/new' rename_flags 'd13/old' 'd13/new' 0
  step 69 'fsyncdir d13' io -c fsync 'd13'
  mark 69
  step 70 'mkdir d14' mkdir 'd14'
  step 71 'symlink nowhere d14/old' ln -sT 'nowhere' 'd14/old'
  step 72 'fsyncdir d14' io -c fsync 'd14'
  mark 72
  step 73 'rename d14/old d14/new' rename_flags 'd14/old' 'd14/new' 0
  step 74 'fsyncdir d14' io -c fsync 'd14'
  mark 74
  step 75 'mkdir d15' mkdir 'd15'
  step 76 'symlink nowhere d15/old' ln -sT 'nowhere' 'd15/old'
  step 77 'fsyncdir d15' io -c fsync 'd15'
  mark 77
  step 78 'rename d15/old d15/new' rename_flags 'd15/old' 'd15/new' 0
  step 79 'fsyncdir d15' io -c fsync 'd15'
  mark 79
  step 80 'mkdir d16' mkdir 'd16'
  step 81 'symlink nowhere d16/old' ln -sT 'nowhere' 'd16/old'
  step 82 'fsyncdir d16' io -c fsync 'd16'
  mark 82
  step 83 'rename d16/old d16/new' rename_flags 'd16/old' 'd16/new' 0
  step 84 'fsyncdir d16' io -c fsync 'd16'
  mark 84
  step 85 'mkdir d17' mkdir 'd17'
  step 86 'symlink nowhere d17/old' ln -sT 'nowhere' 'd17/old'
  step 87 'fsyncdir d17' io -c fsync 'd17'
  mark 87
  step 88 'rename d17/old d17/new' rename_flags 'd17/old' 'd17/new' 0
  step 89 'fsyncdir d17' io -c fsync 'd17'
  mark 89
  step 90 'mkdir d18' mkdir 'd18'
  step 91 'symlink nowhere d18/old' ln -sT 'nowhere' 'd18/old'
  step 92 'fsyncdir d18' io -c fsync 'd18'
  mark 92
  step 93 'rename d18/old d18/new' rename_flags 'd18/old' 'd18/new' 0
  step 94 'fsyncdir d18' io -c fsync 'd18'
  mark 94
  step 95 'mkdir d19' mkdir 'd19'
  step 96 'symlink nowhere d19/old' ln -sT 'nowhere' 'd19/old'
  step 97 'fsyncdir d19' io -c fsync 'd19'
  mark 97
  step 98 'rename d19/old d19/new' rename_flags 'd19/old' 'd19/new' 0
  step 99 'fsyncdir d19' io -c fsync 'd19'
  mark 99
  step 100 'mkdir d20' mkdir 'd20'
  step 101 'symlink nowhere d20/old' ln -sT 'nowhere' 'd20/old'
  step 102 'fsyncdir d20' io -c fsync 'd20'
  mark 102
  step 103 'rename d20/old d20/new' rename_flags 'd20/old' 'd20/new' 0
  step 104 'fsyncdir d20' io -c fsync 'd20'
  mark 104
  step 105 'mkdir d21' mkdir 'd21'
  step 106 'symlink nowhere d21/old' ln -sT 'nowhere' 'd21/old'
  step 107 'fsyncdir d21' io -c fsync 'd21'
  mark 107
  step 108 'rename d21/old d21/new' rename_flags 'd21/old' 'd21/new' 0
  step 109 'fsyncdir d21' io -c fsync 'd21'
  mark 109
  step 110 'mkdir d22' mkdir 'd22'
  step 111 'symlink nowhere d22/old' ln -sT 'nowhere' 'd22/old'
  step 112 'fsyncdir d22' io -c fsync 'd22'
  mark 112
  step 113 'rename d22/old d22/new' rename_flags 'd22/old' 'd22/new' 0
  step 114 'fsyncdir d22' io -c fsync 'd22'
  mark 114
  step 115 'mkdir d23' mkdir 'd23'
  step 116 'symlink nowhere d23/old' ln -sT 'nowhere' 'd23/old'
  step 117 'fsyncdir d23' io -c fsync 'd23'
  mark 117
  step 118 'rename d23/old d23/new' rename_flags 'd23/old' 'd23/new' 0
  step 119 'fsyncdir d23' io -c fsync 'd23'
  mark 119
  step 120 'mkdir d24' mkdir 'd24'
  step 121 'symlink nowhere d24/old' ln -sT 'nowhere' 'd24/old'
  step 122 'fsyncdir d24' io -c fsync 'd24'
  mark 122
  step 123 'rename d24/old d24/new' rename_flags 'd24/old' 'd24/new' 0
  step 124 'fsyncdir d24' io -c fsync 'd24'
  mark 124
  step 125 'mkdir d25' mkdir 'd25'
  step 126 'symlink nowhere d25/old' ln -sT 'nowhere' 'd25/old'
  step 127 'fsyncdir d25' io -c fsync 'd25'
  mark 127
  step 128 'rename d25/old d25/new' rename_flags 'd25/old' 'd25/new' 0
  step 129 'fsyncdir d25' io -c fsync 'd25'
  mark 129
  step 130 'mkdir d26' mkdir 'd26'
  step 131 'symlink nowhere d26/old' ln -sT 'nowhere' 'd26/old'
  step 132 'fsyncdir d26' io -c fsync 'd26'
  mark 132
  step 133 'rename d26/old d26/new' rename_flags 'd26/old' 'd26/new' 0
  step 134 'fsyncdir d26' io -c fsync 'd26'
  mark 134
  step 135 'mkdir d27' mkdir 'd27'
  step 136 'symlink nowhere d27/old' ln -sT 'nowhere' 'd27/old'
  step 137 'fsyncdir d27' io -c fsync 'd27'
  mark 137
  step 138 'rename d27/old d27/new' rename_flags 'd27/old' 'd27/new' 0
  step 139 'fsyncdir d27' io -c fsync 'd27'
  mark 139
  step 140 'mkdir d28' mkdir 'd28'
  step 141 'symlink nowhere d28/old' ln -sT 'nowhere' 'd28/old'
  step 142 'fsyncdir d28' io -c fsync 'd28'
  mark 142
  step 143 'rename d28/old d28/new' rename_flags 'd28/old' 'd28/new' 0
  step 144 'fsyncdir d28' io -c fsync 'd28'
  mark 144
  step 145 'mkdir d29' mkdir 'd29'
  step 146 'symlink nowhere d29/old' ln -sT 'nowhere' 'd29/old'
  step 147 'fsyncdir d29' io -c fsync 'd29'
  mark 147
  step 148 'rename d29/old d29/new' rename_flags 'd29/old' 'd29/new' 0
  step 149 'fsyncdir d29' io -c fsync 'd29'
  mark 149
  step 150 'mkdir d30' mkdir 'd30'
  step 151 'symlink nowhere d30/old' ln -sT 'nowhere' 'd30/old'
  step 152 'fsyncdir d30' io -c fsync 'd30'
  mark 152
  step 153 'rename d30/old d30/new' rename_flags 'd30/old' 'd30/new' 0
  step 154 'fsyncdir d30' io -c fsync 'd30'
  mark 154
  step 155 'mkdir d31' mkdir 'd31'
  step 156 'symlink nowhere d31/old' ln -sT 'nowhere' 'd31/old'
  step 157 'fsyncdir d31' io -c fsync 'd31'
  mark 157
  step 158 'rename d31/old d31/new' rename_flags 'd31/old' 'd31/new' 0
  step 159 'fsyncdir d31' io -c fsync 'd31'
  mark 159
  step 160 'mkdir d32' mkdir 'd32'
  step 161 'symlink nowhere d32/old' ln -sT 'nowhere' 'd32/old'
  step 162 'fsyncdir d32' io -c fsync 'd32'
  mark 162
  step 163 'rename d32/old d32/new' rename_flags 'd32/old' 'd32/new' 0
  step 164 'fsyncdir d32' io -c fsync 'd32'
  mark 164
  step 165 'mkdir d33' mkdir 'd33'
  step 166 'symlink nowhere d33/old' ln -sT 'nowhere' 'd33/old'
  step 167 'fsyncdir d33' io -c fsync 'd33'
  mark 167
  step 168 'rename d33/old d33/new' rename_flags 'd33/old' 'd33/new' 0
  step 169 'fsyncdir d33' io -c fsync 'd33'
  mark 169
  step 170 'mkdir d34' mkdir 'd34'
  step 171 'symlink nowhere d34/old' ln -sT 'nowhere' 'd34/old'
  step 172 'fsyncdir d34' io -c fsync 'd34'
  mark 172
  step 173 'rename d34/old d34/new' rename_flags 'd34/old' 'd34/new' 0
  step 174 'fsyncdir d34' io -c fsync 'd34'
  mark 174
  step 175 'mkdir d35' mkdir 'd35'
  step 176 'symlink nowhere d35/old' ln -sT 'nowhere' 'd35/old'
  step 177 'fsyncdir d35' io -c fsync 'd35'
  mark 177
  step 178 'rename d35/old d35/new' rename_flags 'd35/old' 'd35/new' 0
  step 179 'fsyncdir d35' io -c fsync 'd35'
  mark 179
  step 180 'mkdir d36' mkdir 'd36'
  step 181 'symlink nowhere d36/old' ln -sT 'nowhere' 'd36/old'
  step 182 'fsyncdir d36' io -c fsync 'd36'
  mark 182
  step 183 'rename d36/old d36/new' rename_flags 'd36/old' 'd36/new' 0
  step 184 'fsyncdir d36' io -c fsync 'd36'
  mark 184
  step 185 'mkdir d37' mkdir 'd37'
  step 186 'symlink nowhere d37/old' ln -sT 'nowhere' 'd37/old'
  step 187 'fsyncdir d37' io -c fsync 'd37'
  mark 187
  step 188 'rename d37/old d37/new' rename_flags 'd37/old' 'd37/new' 0
  step 189 'fsyncdir d37' io -c fsync 'd37'
  mark 189
  step 190 'mkdir d38' mkdir 'd38'
  step 191 'symlink nowhere d38/old' ln -sT 'nowhere' 'd38/old'
  step 192 'fsyncdir d38' io -c fsync 'd38'
  mark 192
  step 193 'rename d38/old d38/new' rename_flags 'd38/old' 'd38/new' 0
  step 194 'fsyncdir d38' io -c fsync 'd38'
  mark 194
  step 195 'mkdir d39' mkdir 'd39'
  step 196 'symlink nowhere d39/old' ln -sT 'nowhere' 'd39/old'
  step 197 'fsyncdir d39' io -c fsync 'd39'
  mark 197
  step 198 'rename d39/old d39/new' rename_flags 'd39/old' 'd39/new' 0
  step 199 'fsyncdir d39' io -c fsync 'd39'
  mark 199
  step 200 'mkdir d40' mkdir 'd40'
  step 201 'symlink nowhere d40/old' ln -sT 'nowhere' 'd40/old'
  step 202 'fsyncdir d40' io -c fsync 'd40'
  mark 202
  step 203 'rename d40/old d40/new' rename_flags 'd40/old' 'd40/new' 0
  step 204 'fsyncdir d40' io -c fsync 'd40'
  mark 204
  step 205 'mkdir d41' mkdir 'd41'
  step 206 'symlink nowhere d41/old' ln -sT 'nowhere' 'd41/old'
  step 207 'fsyncdir d41' io -c fsync 'd41'
  mark 207
  step 208 'rename d41/old d41/new' rename_flags 'd41/old' 'd41/new' 0
  step 209 'fsyncdir d41' io -c fsync 'd41'
  mark 209
  step 210 'mkdir d42' mkdir 'd42'
  step 211 'symlink nowhere d42/old' ln -sT 'nowhere' 'd42/old'
  step 212 'fsyncdir d42' io -c fsync 'd42'
  mark 212
  step 213 'rename d42/old d42/new' rename_flags 'd42/old' 'd42/new' 0
  step 214 'fsyncdir d42' io -c fsync 'd42'
  mark 214
  step 215 'mkdir d43' mkdir 'd43'
  step 216 'symlink nowhere d43/old' ln -sT 'nowhere' 'd43/old'
  step 217 'fsyncdir d43' io -c fsync 'd43'
  mark 217
  step 218 'rename d43/old d43/new' rename_flags 'd43/old' 'd43/new' 0
  step 219 'fsyncdir d43' io -c fsync 'd43'
  mark 219
  step 220 'mkdir d44' mkdir 'd44'
  step 221 'symlink nowhere d44/old' ln -sT 'nowhere' 'd44/old'
  step 222 'fsyncdir d44' io -c fsync 'd44'
  mark 222
  step 223 'rename d44/old d44/new' rename_flags 'd44/old' 'd44/new' 0
  step 224 'fsyncdir d44' io -c fsync 'd44'
  mark 224
  step 225 'mkdir d45' mkdir 'd45'
  step 226 'symlink nowhere d45/old' ln -sT 'nowhere' 'd45/old'
  step 227 'fsyncdir d45' io -c fsync 'd45'
  mark 227
  step 228 'rename d45/old d45/new' rename_flags 'd45/old' 'd45/new' 0
  step 229 'fsyncdir d45' io -c fsync 'd45'
  mark 229
  step 230 'mkdir d46' mkdir 'd46'
  step 231 'symlink nowhere d46/old' ln -sT 'nowhere' 'd46/old'
  step 232 'fsyncdir d46' io -c fsync 'd46'
  mark 232
  step 233 'rename d46/old d46/new' rename_flags 'd46/old' 'd46/new' 0
  step 234 'fsyncdir d46' io -c fsync 'd46'
  mark 234
  step 235 'mkdir d47' mkdir 'd47'
  step 236 'symlink nowhere d47/old' ln -sT 'nowhere' 'd47/old'
  step 237 'fsyncdir d47' io -c fsync 'd47'
  mark 237
  step 238 'rename d47/old d47/new' rename_flags 'd47/old' 'd47/new' 0
  step 239 'fsyncdir d47' io -c fsync 'd47'
  mark 239
  step 240 'mkdir d48' mkdir 'd48'
  step 241 'symlink nowhere d48/old' ln -sT 'nowhere' 'd48/old'
  step 242 'fsyncdir d48' io -c fsync 'd48'
  mark 242
  step 243 'rename d48/old d48/new' rename_flags 'd48/old' 'd48/new' 0
  step 244 'fsyncdir d48' io -c fsync 'd48'
  mark 244
  step 245 'mkdir d49' mkdir 'd49'
  step 246 'symlink nowhere d49/old' ln -sT 'nowhere' 'd49/old'
  step 247 'fsyncdir d49' io -c fsync 'd49'
  mark 247
  step 248 'rename d49/old d49/new' rename_flags 'd49/old' 'd49/new' 0
  step 249 'fsyncdir d49' io -c fsync 'd49'
  mark 249
  step 250 'mkdir d50' mkdir 'd50'
  step 251 'symlink nowhere d50/old' ln -sT 'nowhere' 'd50/old'
  step 252 'fsyncdir d50' io -c fsync 'd50'
  mark 252
  step 253 'rename d50/old d50/new' rename_flags 'd50/old' 'd50/new' 0
  step 254 'fsyncdir d50' io -c fsync 'd50'
  mark 254
  step 255 'mkdir d51' mkdir 'd51'
  step 256 'symlink nowhere d51/old' ln -sT 'nowhere' 'd51/old'
  step 257 'fsyncdir d51' io -c fsync 'd51'
  mark 257
  step 258 'rename d51/old d51/new' rename_flags 'd51/old' 'd51/new' 0
  step 259 'fsyncdir d51' io -c fsync 'd51'
  mark 259
  step 260 'mkdir d52' mkdir 'd52'
  step 261 'symlink nowhere d52/old' ln -sT 'nowhere' 'd52/old'
  step 262 'fsyncdir d52' io -c fsync 'd52'
  mark 262
  step 263 'rename d52/old d52/new' rename_flags 'd52/old' 'd52/new' 0
  step 264 'fsyncdir d52' io -c fsync 'd52'
  mark 264
  step 265 'mkdir d53' mkdir 'd53'
  step 266 'symlink nowhere d53/old' ln -sT 'nowhere' 'd53/old'
  step 267 'fsyncdir d53' io -c fsync 'd53'
  mark 267
  step 268 'rename d53/old d53/new' rename_flags 'd53/old' 'd53/new' 0
  step 269 'fsyncdir d53' io -c fsync 'd53'
  mark 269
  step 270 'mkdir d54' mkdir 'd54'
  step 271 'symlink nowhere d54/old' ln -sT 'nowhere' 'd54/old'
  step 272 'fsyncdir d54' io -c fsync 'd54'
  mark 272
  step 273 'rename d54/old d54/new' rename_flags 'd54/old' 'd54/new' 0
  step 274 'fsyncdir d54' io -c fsync 'd54'
  mark 274
  step 275 'mkdir d55' mkdir 'd55'
  step 276 'symlink nowhere d55/old' ln -sT 'nowhere' 'd55/old'
  step 277 'fsyncdir d55' io -c fsync 'd55'
  mark 277
  step 278 'rename d55/old d55/new' rename_flags 'd55/old' 'd55/new' 0
  step 279 'fsyncdir d55' io -c fsync 'd55'
  mark 279
  step 280 'mkdir d56' mkdir 'd56'
  step 281 'symlink nowhere d56/old' ln -sT 'nowhere' 'd56/old'
  step 282 'fsyncdir d56' io -c fsync 'd56'
  mark 282
  step 283 'rename d56/old d56/new' rename_flags 'd56/old' 'd56/new' 0
  step 284 'fsyncdir d56' io -c fsync 'd56'
  mark 284
  step 285 'mkdir d57' mkdir 'd57'
  step 286 'symlink nowhere d57/old' ln -sT 'nowhere' 'd57/old'
  step 287 'fsyncdir d57' io -c fsync 'd57'
  mark 287
  step 288 'rename d57/old d57/new' rename_flags 'd57/old' 'd57/new' 0
  step 289 'fsyncdir d57' io -c fsync 'd57'
  mark 289
  step 290 'mkdir d58' mkdir 'd58'
  step 291 'symlink nowhere d58/old' ln -sT 'nowhere' 'd58/old'
  step 292 'fsyncdir d58' io -c fsync 'd58'
  mark 292
  step 293 'rename d58/old d58/new' rename_flags 'd58/old' 'd58/new' 0
  step 294 'fsyncdir d58' io -c fsync 'd58'
  mark 294
  step 295 'mkdir d59' mkdir 'd59'
  step 296 'symlink nowhere d59/old' ln -sT 'nowhere' 'd59/old'
  step 297 'fsyncdir d59' io -c fsync 'd59'
  mark 297
  step 298 'rename d59/old d59/new' rename_flags 'd59/old' 'd59/new' 0
  step 299 'fsyncdir d59' io -c fsync 'd59'
  mark 299
}

common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
