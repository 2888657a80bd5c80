// Redraws the picture of crash_picture.cc for another cut or part of the time, and describes a request. All coordinates are
// CSS pixels of the SVG; times are nanoseconds; a cut is the number of events before it. Texts are never set as HTML.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('crash-data').textContent);
  const r = data.requests, count = r.id.length;
  const READ = 3, LOST = 3, TORN = 2, KEPT = 1, RISK = 0;
  const KIND = {axis: 0, operations: 1, requests: 2, flushes: 3, media: 4, unflushed: 5, states: 6, series: 7};
  const SHORTEST = 3, RIGHT = 10, CHARACTER = 6.1, SMALL_CHARACTER = 5;
  const FATES = ['at risk: the drive may have it, or not', 'at risk, and there', 'torn: there in part', 'lost'];
  const byId = (id) => document.getElementById(id);

  // ---- time ----
  const knots = data.knots;
  function place(at) {
    let low = 0, high = knots.length - 1;
    if (at <= knots[0][0]) return knots[0][1] - (knots[0][0] - at);
    if (at >= knots[high][0]) return knots[high][1] + (at - knots[high][0]);
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (knots[middle][0] <= at) low = middle; else high = middle;
    }
    const [t0, p0] = knots[low], [t1, p1] = knots[high];
    return p0 + (p1 - p0) * (at - t0) / (t1 - t0);
  }
  const placed = (times) => Float64Array.from(times, (at) => at < 0 ? NaN : place(at));
  const from = placed(r.st), acked = placed(r.at), durable = placed(r.dt);
  const wholeBegin = knots[0][1], wholeEnd = knots[knots.length - 1][1];
  const powerOff = new Map(data.power.filter((p) => !p[2]).map((p) => [p[0], place(p[1])]));
  // End of the line after a bar: when the write became durable or the power was cut; otherwise never.
  const ended = Float64Array.from(r.de, (event, i) => event >= 0 ? durable[i] : powerOff.get(r.ce[i]) ?? Infinity);

  function timeText(at) {
    const ms = at / 1e6;
    return ms >= 10000 ? (ms / 1000).toFixed(3) + '\u00a0s' : ms.toFixed(3) + '\u00a0ms';
  }
  const tickText = (at, step) => (at / 1e6).toFixed(step >= 1e6 ? 0 : step >= 1e5 ? 1 : step >= 1e4 ? 2 : 3) + '\u00a0ms';
  function shortTime(ns) {
    const [value, unit] = ns < 999500 ? [ns / 1e3, '\u00b5s'] : ns < 999500000 ? [ns / 1e6, 'ms'] : [ns / 1e9, 's'];
    return (value >= 99.95 ? value.toFixed(0) : value.toPrecision(3)) + '\u00a0' + unit;
  }
  function bytesText(amount) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (amount >= 1023.5 && unit < 4) { amount /= 1024; ++unit; }
    return (unit === 0 ? amount.toFixed(0) : amount.toPrecision(3)) + '\u00a0' + units[unit];
  }

  // ---- cuts: every point with a change ----
  const eventTimes = new Map([[0, knots[0][0]]]);
  const addEvent = (event, at) => { if (event >= 0) eventTimes.set(event + 1, at); };
  for (let i = 0; i < count; ++i) {
    addEvent(r.se[i], r.st[i]);
    addEvent(r.ae[i], r.at[i]);
  }
  for (const f of data.flushes) { addEvent(f[2], f[3]); addEvent(f[4], f[5]); }
  for (const m of data.media) addEvent(m[0], m[1]);
  for (const m of data.marks) addEvent(m[0], m[1]);
  for (const p of data.power) addEvent(p[0], p[1]);
  const known = [...eventTimes.keys()].sort((a, b) => a - b);
  const before = (list, event) => {  // index of the last element that is at most `event`
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle] <= event) low = middle + 1; else high = middle; }
    return low - 1;
  };
  const timeOf = (cut) => eventTimes.get(known[Math.max(before(known, cut), 0)]);
  const cuts = [...new Set([...known, ...data.states.map((s) => s.event), data.cut])].filter((c) => c <= data.events)
      .sort((a, b) => a - b);
  const flushCuts = data.flushes.filter((f) => f[4] >= 0).map((f) => f[4] + 1).sort((a, b) => a - b);
  const failedCuts = [...new Set(data.states.filter((s) => s.outcome === 1).map((s) => s.event))].sort((a, b) => a - b);

  // ---- writes at risk ----
  function atRisk(i, cut) {
    if (r.op[i] === READ || r.se[i] >= cut) return false;
    if (r.de[i] >= 0 && r.de[i] < cut) return false;
    return r.ce[i] < 0 || r.ce[i] >= cut;
  }
  function risksAt(cut) {
    const list = [];
    for (let i = 0; i < count; ++i) if (atRisk(i, cut)) list.push(i);
    return list;
  }
  const fateSets = new Map();
  function fateOf(state, i) {
    if (state < 0 || data.states[state].members) return RISK;
    if (!fateSets.has(state)) {
      fateSets.set(state, {lost: new Set(data.states[state].lost), torn: new Map(data.states[state].torn.map((t) => [t[0], t]))});
    }
    const fates = fateSets.get(state);
    return fates.lost.has(i) ? LOST : fates.torn.has(i) ? TORN : KEPT;
  }

  // ---- state of the page ----
  let cut = data.cut, state = data.shown, picked = -1, begin = data.window[0], end = data.window[1];
  let svg, left, right, tops, bottom, layer;

  function adopt() {
    const narrow = matchMedia('(max-width:44rem)').matches;
    const box = document.querySelector(narrow ? '.crash.narrow' : '.crash.wide');
    svg = box.querySelector('svg');
    const width = Math.max(box.clientWidth, 300), small = width < 560;
    tops = data.rows.map((row) => small || narrow ? row.narrow : row.wide);
    bottom = Number(svg.getAttribute('viewBox').split(' ')[3]);
    left = narrow ? 0 : 140;
    right = width - RIGHT;
    svg.setAttribute('viewBox', `0 0 ${width} ${bottom}`);
    svg.querySelector('clipPath rect').setAttribute('width', right - left + 6);
    for (const row of svg.querySelectorAll('.row')) row.setAttribute('width', right - left);
    layer = {};
    for (const group of svg.querySelectorAll('g[class]')) layer[group.getAttribute('class')] = group;
  }
  const x = (at) => left + (at - begin) / (end - begin) * (right - left);
  const num = (value) => Math.round(value * 10) / 10;
  const seen = (a, b) => b >= left - 4 && a <= right + 4;

  function element(name, attributes, text) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function fill(group, ...children) { group.replaceChildren(...children.flat()); }
  const paths = (list) => list.filter((p) => p[1] !== '').map(([name, d]) => element('path', {class: name, d}));

  // ---- drawing ----
  const yOf = (i) => tops[r.row[i]] + r.y[i];
  function barOf(i) {
    const a = x(from[i]), b = r.ae[i] >= 0 ? x(acked[i]) : Math.min(x(ended[i]), right + 4);
    return [a, Math.max(b, a + SHORTEST)];
  }
  // Marks of one row within the same half pixel are merged.
  function drawRequests() {
    const tails = [], writes = [], reads = [], drawn = new Map();
    for (let i = 0; i < count; ++i) {
      const y = yOf(i);
      if (r.ae[i] >= 0 && r.op[i] !== READ) {
        const a = x(acked[i]), b = Math.min(x(ended[i]), right + 4);
        if (b > a + 1 && seen(a, b)) tails.push(`M${num(Math.max(a, left - 4))} ${num(y)}H${num(b)}`);
      }
      const [a, b] = barOf(i);
      if (!seen(a, b)) continue;
      const last = drawn.get(y);
      if (last !== undefined && b <= last) continue;
      drawn.set(y, b);
      (r.op[i] === READ ? reads : writes).push(`M${num(Math.max(a, left - 4))} ${num(y)}H${num(b)}`);
    }
    fill(layer.tails, paths([['', tails.join('')]]));
    fill(layer.bars, paths([['write', writes.join('')], ['read', reads.join('')]]));
  }
  function drawFlushes() {
    let lines = '', done = '', open = '', promised = '';
    for (const [device, , , submitted, ackEvent, ackTime, promise] of data.flushes) {
      const a = x(place(submitted)), b = ackEvent >= 0 ? x(place(ackTime)) : a + 8;
      if (!seen(a, b)) continue;
      let top = bottom, low = 0;
      data.rows.forEach((row, i) => {
        if (row.device !== device || (row.kind !== KIND.requests && row.kind !== KIND.flushes)) return;
        top = Math.min(top, tops[i]);
        low = Math.max(low, tops[i] + row.height);
        if (row.kind !== KIND.flushes) return;
        const d = `M${num(a)} ${num(tops[i] + 8)}H${num(Math.max(b, a + SHORTEST))}`;
        if (promise >= 0) promised += d; else if (ackEvent >= 0) done += d; else open += d;
      });
      if (ackEvent >= 0) lines += `M${num(b)} ${num(top)}V${num(low)}`;
    }
    fill(layer['flush-lines'], paths([['', lines]]));
    fill(layer.flushes, paths([['done', done], ['open', open], ['promised', promised]]));
  }
  function drawMedia() {
    const whole = [], damaged = [], drawn = new Map();
    for (const [, at, row, y, good] of data.media) {
      const here = num(x(place(at)));
      if (!seen(here, here)) continue;
      const top = num(tops[row] + y - 2.5), key = here * 8192 + top;
      if (drawn.has(key)) continue;
      drawn.set(key, true);
      (good ? whole : damaged).push(`M${here} ${top}v5`);
    }
    fill(layer.media, paths([['whole', whole.join('')], ['damaged', damaged.join('')]]));
  }
  // The maximum of unflushed writes within each pixel.
  const changes = (() => {
    const list = [];
    for (let i = 0; i < count; ++i) {
      if (r.op[i] === READ) continue;
      list.push([from[i], 512 * r.sectors[i]]);
      if (isFinite(ended[i])) list.push([ended[i], -512 * r.sectors[i]]);
    }
    return list.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  })();
  function drawUnflushed() {
    const row = data.rows.findIndex((each) => each.kind === KIND.unflushed);
    const columns = Math.max(Math.ceil(right - left) + 7, 1), most = new Float64Array(columns);
    let now = 0, column = 0;
    for (const [at, change] of changes) {
      const next = Math.min(Math.max(Math.floor(x(at) - left), 0), columns);
      for (; column < next; ++column) most[column] = Math.max(most[column], now);
      now += change;
      if (column < columns) most[column] = Math.max(most[column], now);
    }
    for (; column < columns; ++column) most[column] = Math.max(most[column], now);
    const largest = most.reduce((a, b) => Math.max(a, b), 0);
    if (largest <= 0) { fill(layer.unflushed); return; }
    const floor = tops[row] + 50;
    let d = `M${left} ${num(floor)}`, last = -1;
    most.forEach((amount, i) => {
      if (amount === last) return;
      d += `H${left + i}V${num(floor - 44 * amount / largest)}`;
      last = amount;
    });
    d += `H${num(right + 6)}V${num(floor)}Z`;
    fill(layer.unflushed, paths([['', d]]), element('text', {x: left + 4, y: num(tops[row] + 11)}, 'at most ' + bytesText(largest)));
  }
  // Like crash_picture.cc. Of the values within one pixel, draws the greatest.
  const seriesPlaces = data.series.map((each) => placed(each.times));
  const UNITS = [(v) => v.toFixed(0), bytesText, (v) => bytesText(v) + '/s', (v) => v.toFixed(0) + ' cylinders'];
  const STEPS = 0, LINE = 1, SPIKES = 2;
  function drawSeries() {
    const drawn = [];
    data.rows.forEach((row, at) => {
      if (row.kind !== KIND.series) return;
      const {unit, shape, values} = data.series[row.series], places = seriesPlaces[row.series];
      const first = Math.max(before(places, begin), 0);
      let last = first;
      while (last + 1 < values.length && places[last] <= end) ++last;
      let most = 0;
      for (let i = first; i <= last; ++i) {
        const from = x(places[i]), to = shape === STEPS && i + 1 < values.length ? x(places[i + 1]) : from;
        if (seen(from, to)) most = Math.max(most, values[i]);
      }
      if (most <= 0) return;
      const floor = tops[at] + row.height - 2, room = row.height - 16;
      let d = '', column = -1, highest = 0;
      const put = (where, value) => {
        const y = num(floor - room * value / most);
        if (shape === SPIKES) d += `M${num(where)} ${floor}V${y}`;
        else if (d === '') d = `M${num(where)} ${y}`;
        else d += shape === STEPS ? `H${num(where)}V${y}` : `L${num(where)} ${y}`;
      };
      for (let i = first; i <= last; ++i) {
        const where = Math.min(Math.max(x(places[i]), left - 4), right + 6);
        if (shape === SPIKES && !seen(x(places[i]), x(places[i]))) continue;
        if (shape !== LINE && Math.floor(where) === column && values[i] <= highest && i < last) continue;
        highest = Math.floor(where) === column ? Math.max(highest, values[i]) : values[i];
        column = Math.floor(where);
        put(where, values[i]);
      }
      if (shape === STEPS) d += `H${num(right + 6)}`;
      drawn.push(...paths([[['steps', 'head', 'spikes'][shape], d]]),
                 element('text', {x: left + 4, y: num(tops[at] + 11)}, 'at most ' + UNITS[unit](most)));
    });
    fill(layer.series, drawn);
  }
  function drawTime() {
    const quiet = [], ticks = [], shortened = new Set(data.quiet);
    for (const i of data.quiet) {
      const a = x(knots[i][1]), b = x(knots[i + 1][1]);
      if (!seen(a, b)) continue;
      quiet.push(element('rect', {x: num(a), y: 20, width: num(b - a), height: 11}));
      const text = shortTime(knots[i + 1][0] - knots[i][0]);
      if (b - a > SMALL_CHARACTER * text.length) quiet.push(element('text', {x: num((a + b) / 2), y: 29, 'text-anchor': 'middle'}, text));
    }
    const least = Math.max((end - begin) / (right - left) * 95, 1);
    let step = Math.pow(10, Math.floor(Math.log10(least)));
    step *= [1, 2, 5, 10].find((factor) => step * factor >= least);
    let last = left - 60;
    for (let i = 0; i + 1 < knots.length; ++i) {
      if (shortened.has(i)) continue;
      const first = knots[i][0] + Math.max(begin - knots[i][1], 0);
      for (let at = Math.ceil(first / step) * step; at <= knots[i + 1][0]; at += step) {
        const here = x(place(at));
        if (here > right - 20) break;
        if (here < last + 72 || here < left) continue;
        last = here;
        ticks.push(element('path', {d: `M${num(here)} 20V${bottom}`}),
                   element('text', {x: num(here), y: 13, 'text-anchor': 'middle'}, tickText(at, step)));
      }
    }
    fill(layer.quiet, quiet);
    fill(layer.ticks, ticks);
  }
  function drawOperations() {
    const row = data.rows.findIndex((each) => each.kind === KIND.operations);
    if (row < 0) return;
    let points = '', ticks = '';
    const texts = [], freeFrom = [left, left], cutHere = x(place(timeOf(cut)));
    for (const [, at, promise, , label] of data.marks) {
      const here = x(place(at));
      if (!seen(here, here)) continue;
      if (promise) points += `M${num(here)} ${num(tops[row] + 38)}l4.5 -7h-9z`;
      else ticks += `M${num(here)} ${num(tops[row] + 30)}v8`;
      const letters = [...data.texts[label]];
      const text = letters.length > 26 ? letters.slice(0, 26).join('') + '\u2026' : letters.join('');
      const length = CHARACTER * [...text].length;
      for (let line = 0; line < 2; ++line) {
        const stop = here <= cutHere + 0.1 ? Math.min(cutHere - 4, right) : right;
        const start = Math.max(Math.min(here - 5, stop - length), left + 2);
        if (start < freeFrom[line] || start > here) continue;
        texts.push(element('text', {class: promise ? 'promise' : '', x: num(start), y: num(tops[row] + 26 - 13 * line)}, text));
        freeFrom[line] = start + length + 8;
        break;
      }
    }
    fill(layer.operations, paths([['point', points], ['tick', ticks]]), texts);
  }
  function drawStates() {
    let keptD = '', failedD = '', unknown = '';
    data.rows.forEach((row, i) => {
      if (row.kind !== KIND.states) return;
      const y = num(tops[i] + 8);
      for (const each of data.states) {
        if (each.strategy !== row.strategy) continue;
        const at = num(x(place(timeOf(each.event))));
        if (!seen(at, at)) continue;
        if (each.outcome === 1) failedD += `M${at} ${y - 5}l5 5-5 5-5-5z`;
        if (each.outcome === 0) keptD += `M${at} ${y}h0`;
        if (each.outcome === 2) unknown += `M${at} ${y - 4}v8`;
      }
    });
    fill(layer.states, paths([['kept', keptD], ['unknown', unknown], ['failed', failedD]]));
  }
  function drawPick() {
    if (picked < 0) { fill(layer.pick); return; }
    const [a, b] = barOf(picked);
    fill(layer.pick, element('rect', {x: num(a - 5), y: num(yOf(picked) - 6), width: num(Math.max(b - a, 4) + 9), height: 12, rx: 3}));
  }
  function drawCut(risks) {
    const here = x(place(timeOf(cut))), happened = data.power.some((p) => !p[2] && (p[0] === cut || p[0] + 1 === cut));
    const to = data.recovery >= 0 && cut === data.cut ? x(place(data.recovery)) : right + 6;
    fill(layer.veil, !happened && to > here ? [element('rect', {x: num(Math.max(here, left - 4)), y: 32, width: num(to - Math.max(here, left - 4)), height: bottom - 32})] : []);
    const tails = ['', '', '', ''], marks = ['', '', '', ''];
    for (const i of risks) {
      const fate = fateOf(state, i), a = num(x(from[i])), y = num(yOf(i));
      if (a > right + 4) continue;
      tails[fate] += `M${Math.max(a, left - 4)} ${y}H${num(Math.max(Math.min(here, right + 4), a + SHORTEST))}`;
      marks[fate] += fate === RISK ? `M${a} ${y - 4}l4 4-4 4-4-4z` : fate === KEPT ? `M${a} ${y}h0` :
                     fate === TORN ? `M${a} ${num(y - 4.5)}l5 8h-10z` : `M${num(a - 3.5)} ${num(y - 3.5)}l7 7m0-7l-7 7`;
    }
    for (const i of state >= 0 ? data.states[state].undone : []) {
      const [, at, row, y] = data.media[i], mx = num(x(place(at)));
      if (seen(mx, mx)) marks[LOST] += `M${num(mx - 3.5)} ${num(tops[row] + y - 3.5)}l7 7m0-7l-7 7`;
    }
    const names = ['risk', 'kept', 'torn', 'lost'];
    fill(layer.fates, paths([...names.map((n, f) => [n + '-tail', tails[f]]), ...names.map((n, f) => [n, marks[f]])]));
    let stops = '';
    if (state >= 0) {
      for (const [device, , at] of data.states[state].stopped) {
        data.rows.forEach((row, i) => {
          if (row.device === device && row.kind === KIND.media) stops += `M${num(x(place(at)))} ${num(tops[i])}v${row.height}h-5m5 0h5`;
        });
      }
    }
    const toLeft = here > (left + right) / 2;
    fill(layer.cut, paths([['line', `M${num(here)} 18V${bottom}`], ['stopped', stops]]),
         element('text', {x: num(toLeft ? here - 5 : here + 5), y: 43, 'text-anchor': toLeft ? 'end' : 'start'},
                 (cut === data.events && data.shown < 0 ? 'end ' : 'power cut ') + timeText(timeOf(cut))));
  }

  // ---- words ----
  function lastPromise() {
    let last = -1;
    data.marks.forEach((m, i) => { if (m[2] && m[0] < cut) last = i; });
    return last < 0 ? '' : ` The last promise was ${data.texts[data.marks[last][3]]}.${flushedFor(last)}`;
  }
  // As flushed_for() in crash_page.cc.
  function flushedFor(mark) {
    const written = data.devices.map((name, i) => i).filter((i) => r.device.some((d, j) => d === i && r.op[j] !== READ));
    if (written.length < 2) return '';
    const flush = (i) => data.flushes.find((f) => f[0] === i && f[6] === mark);
    const flushed = written.filter((i) => flush(i)).map((i) => `${data.devices[i]} (request ${flush(i)[1]})`);
    const missed = written.filter((i) => !flush(i)).map((i) => data.devices[i]);
    return ` Disks flushed for this promise: ${flushed.join(', ') || 'none'}${missed.length > 0 ? '; not flushed: ' + missed.join(', ') : ''}.`;
  }
  function tellCut(risks) {
    let amount = 0, inFlight = 0, onMedium = 0;
    for (const i of risks) {
      amount += 512 * r.sectors[i];
      if (r.ae[i] < 0 || r.ae[i] >= cut) ++inFlight;
      if (r.me[i] >= 0 && r.me[i] < cut) ++onMedium;
    }
    const one = risks.length === 1;
    let text = `At ${timeText(timeOf(cut))}, after ${cut} events: ${risks.length} ${one ? 'write' : 'writes'} (${bytesText(amount)}) ${one ? 'was' : 'were'} not covered by a completed flush`;
    if (inFlight > 0) text += `, ${inFlight} of them in flight`;
    if (data.media.length > 0 && risks.length > 0 && !data.states.some((s) => s.members)) text += `; ${onMedium} had reached the medium all the same`;
    if (state >= 0 && data.states[state].members) text += `; ${data.states[state].undone.length} media writes to stopped members are missing in state ${data.states[state].name}`;
    else if (state >= 0 && risks.length > 0) text += `; ${data.states[state].lost.length} lost, ${data.states[state].torn.length} torn in state ${data.states[state].name}`;
    byId('at-cut').textContent = text + '.' + lastPromise();
  }
  function tellVerdicts() {
    const box = byId('verdicts');
    const here = data.states.map((s, i) => i).filter((i) => data.states[i].event === cut);
    box.hidden = data.states.length < 2;
    if (here.length === 0) { box.textContent = 'No crash state was checked at this cut.'; return; }
    const buttons = here.slice(0, 24).map((i) => {
      const each = data.states[i], button = document.createElement('button');
      button.textContent = `${each.outcome === 1 ? '\u25c6' : each.outcome === 0 ? '\u25cf' : '\u2013'} ${each.name}: ${each.verdict || 'not checked'}`;
      button.title = each.summary;
      button.className = each.outcome === 1 ? 'failed' : '';
      button.setAttribute('aria-pressed', String(i === state));
      button.addEventListener('click', () => { state = i === state ? -1 : i; showCut(); });
      return button;
    });
    box.replaceChildren(`Checked here: `, ...buttons, here.length > 24 ? ` and ${here.length - 24} more` : '');
  }
  function tellRequest() {
    const box = byId('request');
    box.hidden = picked < 0;
    if (picked < 0) return;
    const i = picked, ops = ['write', 'write zeroes', 'trim', 'read'];
    const title = document.createElement('h3'), list = document.createElement('dl');
    title.textContent = `${ops[r.op[i]]}${r.fua[i] ? ' (FUA)' : ''}, request ${r.id[i]}${data.devices.length > 1 ? ' of ' + data.devices[r.device[i]] : ''}`;
    const tell = (name, value, css) => {
      if (!value) return;
      const dt = document.createElement('dt'), dd = document.createElement('dd');
      dt.textContent = name;
      dd.textContent = value;
      if (css) dd.className = css;
      list.append(dt, dd);
    };
    tell('sectors', `${r.lba[i]} to ${r.lba[i] + r.sectors[i] - 1} (${bytesText(512 * r.sectors[i])})`);
    tell('holds', data.texts[r.what[i]]);
    tell('issued by', data.texts[r.issuer[i]]);
    tell('stack', data.texts[r.stack[i]]);
    tell('file', data.texts[r.file[i]]);
    const bytes = r.bytes[i].match(/../g) || [];
    tell('first bytes', bytes.length && `${bytes.join(' ')}  ${bytes.map((b) => { const c = parseInt(b, 16); return c > 32 && c < 127 ? String.fromCharCode(c) : '\u00b7'; }).join('')}`, 'hex');
    tell('times', `submitted ${timeText(r.st[i])}, ${r.ae[i] >= 0 ? 'acknowledged ' + timeText(r.at[i]) : 'never acknowledged'}` +
         (r.op[i] === READ ? '' : r.de[i] >= 0 ? `, safe from ${timeText(r.dt[i])} on` : ', never flushed'));
    if (r.op[i] !== READ) {
      let fate = 'safe: a flush that was submitted after it had been acknowledged has completed', css = '';
      if (r.se[i] >= cut) fate = 'not yet submitted';
      else if (atRisk(i, cut)) {
        const which = fateOf(state, i);
        fate = FATES[which];
        css = ['fate-risk', 'fate-kept', 'fate-torn', 'fate-lost'][which];
        if (which === TORN) { const t = data.states[state].torn.find((each) => each[0] === i); fate += `, sectors ${t[1]} to ${t[1] + t[2] - 1} of it`; }
        if (r.me[i] >= 0 && which === RISK) fate += r.me[i] < cut ? '; it had reached the medium' : '; it was not wholly on the medium';
      } else if (r.de[i] < 0) fate = 'its power cycle is over';
      tell('at this cut', fate, css);
      const guilty = atRisk(i, cut) && fateOf(state, i) >= TORN;
      if (r.finding[i] >= 0) tell('finding about this file', data.findings[r.finding[i]]);
      else if (guilty && state === data.shown && data.findings.length > 0)
        tell('this state shows', data.findings[0] + (data.findings.length > 1 ? ` (and ${data.findings.length - 1} more)` : ''));
      else if (guilty && data.states[state].summary) tell('this state shows', data.states[state].summary);
    }
    box.replaceChildren(title, list);
  }

  // ---- moving ----
  function showCut() {
    const risks = risksAt(cut);
    drawCut(risks);
    tellCut(risks);
    tellVerdicts();
    tellRequest();
    const slider = byId('cut');
    slider.value = Math.max(before(cuts, cut), 0);
    slider.setAttribute('aria-valuetext', byId('at-cut').textContent);
    byId('flush-before').disabled = before(flushCuts, cut - 1) < 0;
    byId('flush-after').disabled = before(flushCuts, cut) + 1 >= flushCuts.length;
    byId('failure-before').disabled = before(failedCuts, cut - 1) < 0;
    byId('failure-after').disabled = before(failedCuts, cut) + 1 >= failedCuts.length;
  }
  function draw() {
    drawTime();
    drawRequests();
    drawFlushes();
    drawMedia();
    drawUnflushed();
    drawSeries();
    drawOperations();
    drawStates();
    drawPick();
    showCut();
  }
  function show(a, b) {
    const length = Math.max(Math.min(b - a, (wholeEnd - wholeBegin) * 1.03), 1000);
    begin = Math.min(Math.max(a, wholeBegin - length * 0.015), wholeEnd + length * 0.015 - length);
    end = begin + length;
    draw();
  }
  function zoom(factor, around) {
    const length = (end - begin) * factor;
    show(around - (around - begin) * factor, around - (around - begin) * factor + length);
  }
  function setCut(wanted) {
    cut = wanted;
    if (data.shown >= 0 && data.states[data.shown].event === cut) state = data.shown;
    else state = data.states.findIndex((s) => s.event === cut && s.outcome === 1);
    const here = place(timeOf(cut));
    if (here < begin || here > end) show(here - (end - begin) / 2, here + (end - begin) / 2);
    else showCut();
  }
  function pick(i) {
    picked = i;
    if (i >= 0 && (from[i] < begin || from[i] > end)) show(from[i] - (end - begin) / 2, from[i] + (end - begin) / 2);
    else drawPick();
    tellRequest();
  }
  function nearest(event) {
    const box = svg.getBoundingClientRect(), scale = (right + RIGHT) / box.width;
    const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
    let best = -1, least = 14;
    for (let i = 0; i < count; ++i) {
      const dy = Math.abs(yOf(i) - py);
      if (dy > 8) continue;
      const [a, b] = barOf(i), stop = r.op[i] === READ ? b : Math.max(b, Math.min(x(ended[i]), right));
      const dx = px < a ? a - px : px > stop ? px - stop : px > b ? Math.min((px - b) / 50, 3) : 0;
      if (dx + dy < least) { least = dx + dy; best = i; }
    }
    return {best, px, py};
  }
  function cutAt(px) {
    const wanted = begin + (px - left) / (right - left) * (end - begin);
    let low = 0, high = cuts.length;
    while (low < high) { const middle = (low + high) >> 1; if (place(timeOf(cuts[middle])) <= wanted) low = middle + 1; else high = middle; }
    setCut(cuts[Math.max(low - 1, 0)]);
  }

  function listen(picture) {
    picture.setAttribute('tabindex', '0');
    let dragging = false;
    picture.addEventListener('pointermove', (event) => {
      const {best, px} = nearest(event);
      if (dragging) cutAt(px); else if (best >= 0 && best !== picked) pick(best);
    });
    picture.addEventListener('pointerdown', (event) => {
      const {best, px, py} = nearest(event);
      if (py < 44) { dragging = true; picture.setPointerCapture(event.pointerId); cutAt(px); } else if (best >= 0) pick(best);
    });
    picture.addEventListener('pointerup', () => { dragging = false; });
    picture.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const {px} = nearest(event);
      zoom(event.deltaY > 0 ? 1.25 : 0.8, begin + (px - left) / (right - left) * (end - begin));
    }, {passive: false});
    picture.addEventListener('keydown', (event) => {
      const middle = picked >= 0 ? from[picked] : place(timeOf(cut)), risks = risksAt(cut);
      const among = (step) => risks.length === 0 ? picked : risks[(Math.max(risks.indexOf(picked), step > 0 ? -1 : 0) + step + risks.length) % risks.length];
      const keys = {
        ArrowRight: () => pick(Math.min(picked + 1, count - 1)),
        ArrowLeft: () => pick(Math.max(picked < 0 ? count - 1 : picked - 1, 0)),
        ArrowDown: () => pick(among(1)),
        ArrowUp: () => pick(among(-1)),
        '+': () => zoom(0.5, middle),
        '=': () => zoom(0.5, middle),
        '-': () => zoom(2, middle),
        '0': () => show(-Infinity, Infinity),
        Escape: () => pick(-1),
      };
      if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey || count === 0) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  const slider = byId('cut');
  slider.max = cuts.length - 1;
  slider.addEventListener('input', () => setCut(cuts[Number(slider.value)]));
  const on = (id, act) => byId(id).addEventListener('click', act);
  on('flush-before', () => setCut(flushCuts[before(flushCuts, cut - 1)]));
  on('flush-after', () => setCut(flushCuts[before(flushCuts, cut) + 1]));
  on('failure-before', () => setCut(failedCuts[before(failedCuts, cut - 1)]));
  on('failure-after', () => setCut(failedCuts[before(failedCuts, cut) + 1]));
  on('back', () => setCut(data.cut));
  on('in', () => zoom(0.5, place(timeOf(cut))));
  on('out', () => zoom(2, place(timeOf(cut))));
  on('all', () => show(-Infinity, Infinity));
  for (const picture of document.querySelectorAll('.crash svg')) listen(picture);
  for (const each of document.querySelectorAll('.moves,.script-only')) each.hidden = false;
  if (failedCuts.length === 0) for (const id of ['failure-before', 'failure-after']) byId(id).hidden = true;
  const resized = () => { adopt(); draw(); };
  new ResizeObserver(resized).observe(document.querySelector('main'));
  resized();
  window.crashPage = {cuts, risksAt, setCut, show};  // for tests
})();
