# One row per cell: median as a dot, smallest to largest as a line. Set before: rows, margin, logarithmic; $data: seconds
# median, min, max, row, colour, label.
if (logarithmic) set logscale x; else set xrange [0:*]
set format x "%.0s %cs"
set yrange [rows+0.5:0.5]
set grid noytics
set ytics scale 0
set lmargin margin
set rmargin 3
set tmargin 0.5
set bars 0.6
plot $data using 1:4:2:3:5:ytic(6) with xerrorbars lc rgb variable lw 2 pt 7 ps 0.9
