# Load of a device over time, one line per file system. Set before: series; colours and dashes (one word per series), unit
# behind the numbers of the y axis; $data with one index per series: seconds, value, as steps.
set xrange [0:*]
set yrange [0:*]
set format x "%g s"
set format y "%g".unit
set lmargin 8.5
set rmargin 2.5
set tmargin 0.8
plot for [i=1:series] $data index (i-1) using 1:2 with lines lc rgb word(colours, i) dt int(word(dashes, i)) lw 1.4
