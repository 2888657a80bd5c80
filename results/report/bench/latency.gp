# Response time (log) against the share of requests that took at most that time. Drawn as steps, because a histogram has no
# information within its buckets. Set before: series; colours, dashes and
# widths (one word per series); $data with one index per series: seconds, share.
set logscale x
set format x "%.0s %cs"
set format y "%g %%"
set yrange [0:101]
set ytics 25
set lmargin 6.5
set rmargin 2.5
set tmargin 0.8
plot for [i=1:series] $data index (i-1) using 1:(100*$2) with steps \
  lc rgb word(colours, i) dt int(word(dashes, i)) lw real(word(widths, i))
