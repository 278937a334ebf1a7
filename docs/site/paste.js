// Leads from a pasted error to the pages of the causes that it speaks for. Nothing leaves the browser.
"use strict";

const LONGEST = 400000, LINES = 6000, AGAIN = 0.5, ECHO = 0.3, LATER = 0.85, LEAST = 0.5, TEMPERATURE = 1.15, NOTHING = 0.5;

function compiled(index) {
  let broken = 0;
  for (const row of index.messages) {
    try { row.test = new RegExp(row.re, "i"); } catch (error) { broken += 1; row.test = null; }
  }
  index.broken = broken;
  return index;
}

function best(row) {
  return Object.entries(row.for).sort((a, b) => b[1] - a[1])[0]?.[0];
}

// Whether another message of the line says more. One that speaks only under conditions, which nobody can check here, does not
// take the place of a plainer one that names a cause of its own.
function covered(row, others) {
  return others.some((other) => other !== row && (other.sure || !(best(row) in other.for)) && other.covers.some(
    (name) => name === row.id || (name.endsWith(".") && row.id.startsWith(name))));
}

function lineMatches(line, low, candidates) {
  const found = candidates.filter((row) => row.test && row.any.some((word) => low.includes(word)) && row.test.test(line));
  const kept = found.filter((row) => !covered(row, found));
  const plain = kept.filter((row) => !row.yields);
  return plain.length ? plain : kept;
}

function weigh(text, index) {
  const whole = text.slice(0, LONGEST), low = whole.toLowerCase();
  const candidates = index.messages.filter((row) => row.any.some((word) => low.includes(word)));
  const statuses = index.statuses.filter((row) => row.names.some((name) => low.includes(name)));
  const points = {}, lines = {};
  let decay = 1;
  const add = (cause, weight, line) => {
    (points[cause] = points[cause] || []).push(weight);
    if (weight > 0 && !(cause in lines)) lines[cause] = line.trim().slice(0, 200);
  };
  const seen = new Set();
  for (const line of whole.split(/\r?\n/).slice(0, LINES)) {
    const lowered = line.toLowerCase();
    let decided = false;
    const matches = lineMatches(line, lowered, candidates);
    for (const row of matches) {
      if (seen.has(row.id)) continue;
      seen.add(row.id);
      for (const [cause, weight] of Object.entries(row.for)) add(cause, weight * decay * (row.role === "echo" ? ECHO : 1), line);
      decided = decided || row.role === "error";
    }
    for (const row of statuses) {
      const name = row.names.find((one) => lowered.includes(one));
      if (!name || seen.has(name) || covered(row, matches)) continue;
      seen.add(name);
      for (const [cause, weight] of Object.entries(row.for)) add(cause, weight * decay, line);
      decided = true;
    }
    if (decided) decay = Math.max(LEAST, decay * LATER);
  }
  return ranked(points, lines, index);
}

function ranked(points, lines, index) {
  const odds = Object.entries(points).map(([cause, list]) => {
    const ordered = list.sort((a, b) => b - a);
    return [cause, ordered.reduce((sum, weight, at) => sum + weight * AGAIN ** at, 0)];
  }).filter(([, score]) => score > NOTHING);
  const total = odds.reduce((sum, [, score]) => sum + Math.exp(score / TEMPERATURE), 1);
  return odds.map(([cause, score]) => ({
    cause, title: index.causes[cause], share: Math.exp(score / TEMPERATURE) / total, line: lines[cause] || "",
  })).sort((a, b) => b.share - a.share).slice(0, 6);
}

function show(place, found) {
  place.replaceChildren();
  if (!found.length) {
    place.textContent = "No known message in it. Try more of the output, from the first error on; or gpuwhy explain, which reads more.";
    return;
  }
  const list = document.createElement("ol");
  for (const one of found) {
    const item = document.createElement("li"), link = document.createElement("a"), quote = document.createElement("code");
    link.href = `${place.dataset.causes}${one.cause}${place.dataset.ending}`;
    link.textContent = one.cause;
    quote.textContent = one.line;
    item.append(link, `: ${one.title} (${Math.round(100 * one.share)} %)`, document.createElement("br"), quote);
    list.append(item);
  }
  place.append(list);
}

if (typeof document !== "undefined") {
  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("gpuwhy-error"), place = document.getElementById("gpuwhy-found");
    if (!box || !place) return;
    const index = compiled(window.GPUWHY_MESSAGES);
    let timer = 0;
    const go = () => { place.textContent = ""; if (box.value.trim()) show(place, weigh(box.value, index)); };
    box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(go, 200); });
    const given = decodeURIComponent(window.location.hash.slice(1).replace(/\+/g, " "));
    if (given) { box.value = given; go(); }
  });
}
if (typeof module !== "undefined") module.exports = { compiled, weigh };
