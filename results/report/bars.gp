# One row per file system: its mean as a bar, the interval as a line, each single measurement as a dot. Set before: rows,
# margin, unit (by axis_unit()), scale (of a second), step and most (of an axis in that unit); $data: seconds mean, low,
# high, row, colour, label; $values: seconds, row.
set xrange [0:most]
set xtics step
set format x "%g ".unit
set yrange [rows+0.6:0.4]
set grid noytics
set ytics scale 0
set lmargin margin
set rmargin 3
set tmargin 0.5
set bars 0.7
set style fill solid 0.55 noborder
plot $data using ($1*scale/2):4:(0):($1*scale):($4-0.3):($4+0.3):5:ytic(6) with boxxyerror lc rgb variable, \
  $data using ($1*scale):4:($2*scale):($3*scale) with xerrorbars lc rgb "#23292d" lw 1.4 pt 0 ps 0, \
  $values using ($1*scale):2 with points pt 7 ps 0.28 lc rgb "#23292d"
