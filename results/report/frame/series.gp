# Lines of y by x with a key below. Set before: series; colours (one word per series); lines (a word per series: 1 a line, 0
# only points, for the paper's values); xname, yname; logx; $data with one index per series: its name in quotes, then x, y.
set yrange [0:*]
set xlabel xname offset 0,1.1
set ylabel yname
set format "%g"
set lmargin 9
set rmargin 3
set tmargin 0.8
set key below left reverse Left textcolor rgb "#63666b" samplen 2
if (logx) set logscale x
plot for [i=1:series] $data index (i-1) using 1:2 with linespoints dashtype 1 lc rgb word(colours, i) \
  lw (word(lines, i) + 0) * 2 pt (word(lines, i) + 0 ? 7 : 6) ps 0.5 title columnheader(1)
