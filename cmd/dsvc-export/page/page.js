// SPDX-License-Identifier: MIT
// The page: numbers, tables and events, beside the picture. Names come from whoever uses the service: they become text
// and nothing else, and the browser is told so (trusted types).
import { STATES, percent, verdict } from "./model.js";
import { Picture } from "./picture.js";

const ROWS = 200, PAST = 120; // rows of a table; reports in the line of rates
const $ = id => document.getElementById(id);
const words = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const rates = [];
let picture, watch, quiet = 0;

function put(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

// A table whose rows are known by their id: only what has changed is touched. A cell is a text, or { text, kind, pick }.
class Table {
	constructor(id) {
		this.body = $(id);
		this.rows = new Map();
	}

	cell(td, c) {
		const v = typeof c === "object" ? c : { text: c };
		if (td.className !== (v.kind || ""))
			td.className = v.kind || "";
		let b = td.firstElementChild;
		if (!v.pick && b)
			b.remove();
		if (!v.pick)
			return put(td, v.text);
		if (!b) {
			b = document.createElement("button");
			b.type = "button";
			b.addEventListener("click", () => b.pick());
			td.append(b);
		}
		b.pick = v.pick;
		b.setAttribute("aria-pressed", String(v.pressed));
		return put(b, v.text);
	}

	show(rows) {
		const keep = new Map();
		let next = this.body.firstElementChild;
		for (const { id, cells } of rows.slice(0, ROWS)) {
			let tr = this.rows.get(id);
			if (!tr || keep.has(id)) {
				tr = document.createElement("tr");
				tr.append(...cells.map(() => document.createElement("td")));
			}
			keep.set(keep.has(id) ? tr : id, tr);
			if (tr === next)
				next = next.nextElementSibling;
			else
				this.body.insertBefore(tr, next);
			cells.forEach((c, i) => this.cell(tr.children[i], c));
		}
		while (next) {
			const gone = next;
			next = next.nextElementSibling;
			gone.remove();
		}
		this.rows = keep;
		if (rows.length > ROWS) {
			const tr = document.createElement("tr"), td = document.createElement("td");
			td.colSpan = 9;
			td.textContent = `and ${words.format(rows.length - ROWS)} more`;
			tr.append(td);
			this.body.append(tr);
		}
	}
}

const n = v => ({ text: words.format(v), kind: "n" });
const tables = { pass: new Table("pass-rows"), worker: new Table("worker-rows"), reader: new Table("reader-rows"), event: new Table("event-rows") };
let model = null;

function show_passes() {
	tables.pass.show(model.passes.map(p => ({ id: p.key, cells: [
		p.live ? { text: p.job, pressed: picture.pass === p.key, pick: () => { picture.choose_pass(p.key); show_passes(); } } : p.job,
		n(p.epoch), { text: p.state, kind: p.state === "failed" ? "bad" : "" },
		{ text: `${words.format(p.finished)}/${words.format(p.known)}`, kind: "n" }, n(p.acked), n(p.rate),
		{ text: verdict(p), kind: p.state === "failed" ? "bad" : p.stands_still ? "warn" : "" } ] })));
}

function show_workers() {
	tables.worker.show(model.workers.map(w => ({ id: w.id, cells: [
		{ text: w.name, pressed: picture.worker === w.id, pick: () => { picture.choose_worker(w.id); show_workers(); } },
		w.host, { text: w.state, kind: w.state === "live" ? "" : "warn" }, n(w.slots), n(w.streams),
		{ text: (w.kept / 1048576).toFixed(1), kind: "n" },
		{ text: `${(w.silent / 1000).toFixed(1)} s`, kind: w.silent > 3000 ? "n warn" : "n" } ] })));
}

function show_rest() {
	tables.reader.show(model.readers.map(r => ({ id: r.id, cells: [
		r.name, r.host, r.job, n(r.epoch), { text: r.state, kind: r.state === "waiting" ? "warn" : "" }, n(r.acked), n(r.rate) ] })));
	tables.event.show(model.events.map(e => ({ id: e.number, cells: [ new Date(e.at).toLocaleTimeString("en-GB"), e.text ] })));
}

// The last two minutes as a line.
function show_history() {
	const c = $("history"), g = c.getContext("2d"), css = getComputedStyle(document.documentElement);
	const most = Math.max(1, ...rates), x = i => c.width - (rates.length - 1 - i) * c.width / (PAST - 1), y = v => c.height - 2 - (c.height - 4) * v / most;
	g.clearRect(0, 0, c.width, c.height);
	g.strokeStyle = css.getPropertyValue("--accent");
	g.lineWidth = 1.5;
	g.beginPath();
	rates.forEach((v, i) => g.lineTo(x(i), y(v)));
	g.stroke();
	c.setAttribute("aria-label", `elements a second, the last two minutes: now ${words.format(rates.at(-1))}, at most ${words.format(most)}`);
}

function count(list, state) {
	return list.filter(x => x.state === state).length;
}

function show_numbers() {
	const live = model.passes.filter(p => p.state === "running"), sum = f => live.reduce((s, p) => s + f(p), 0);
	const rate = sum(p => p.rate), readers = sum(p => p.readers), busy = sum(p => p.busy_ms), stalled = sum(p => p.stalled_ms);
	const wait = readers ? sum(p => p.wait * p.readers) / readers : 0, held = busy + stalled ? stalled / (busy + stalled) : 0;
	const here = count(model.workers, "live"), waiting = count(model.readers, "waiting");
	const running = model.workers.reduce((s, w) => s + Math.min(w.streams, w.slots), 0);
	rates.push(rate);
	rates.splice(0, rates.length - PAST);
	put($("rate"), short.format(rate));
	put($("workers"), words.format(here));
	put($("workers-more"), [["draining", count(model.workers, "draining")], ["awaited", count(model.workers, "awaited")]]
		.filter(x => x[1]).map(x => `${x[1]} ${x[0]}`).join(", "));
	put($("wanted"), words.format(model.workers_wanted));
	put($("wanted-more"), model.workers_wanted > here && readers ? "more would help" : "");
	put($("busy"), `${words.format(running)} of ${words.format(model.slots)}`);
	put($("busy-more"), busy + stalled ? `held back ${percent(held)}` : "");
	put($("readers"), words.format(model.readers.length));
	put($("readers-more"), waiting ? `${words.format(waiting)} not begun` : "");
	put($("wait"), readers ? percent(wait) : "–");
	put($("wait-more"), "of their time");
	put($("verdict"), !here && readers ? "Readers wait, and there is no worker."
		: !live.length ? "Nothing is read."
		: live.length === 1 ? `${live[0].job}: ${verdict(live[0])}.`
		: `Readers wait ${percent(wait)} of their time; workers are held back ${percent(held)} of theirs.`);
	show_history();
}

function show_legend() {
	const counts = STATES.map(() => 0);
	for (const p of model.passes)
		for (const c of p.cells)
			counts[c]++;
	const used = STATES.map((s, i) => [s, counts[i]]).filter(x => x[1]), old = [...$("legend").children];
	used.forEach(([s, k], i) => {
		const li = old[i] || document.createElement("li");
		li.className = s;
		put(li, `${s} ${words.format(k)}`);
		if (!old[i])
			$("legend").append(li);
	});
	old.slice(used.length).forEach(li => li.remove());
	$("picture").setAttribute("aria-label", `${model.workers.length} workers, ${counts.reduce((a, b) => a + b, 0)} streams ` +
		`of ${model.passes.filter(p => p.live).length} passes (${used.map(x => `${x[1]} ${x[0]}`).join(", ") || "none"}), ` +
		`${model.readers.length} readers`);
}

function show(now) {
	model = now;
	put($("service"), `dispatcher ${model.instance}, ${model.durable ? "keeps its state" : "keeps no state"}`);
	put($("state"), "live");
	$("state").className = "";
	quiet = 0;
	show_numbers();
	picture.update(model);
	show_legend();
	show_passes();
	show_workers();
	show_rest();
	if (picture.cursor)
		watch.postMessage(picture.cursor);
}

function lost(why) {
	quiet = quiet || Date.now();
	put($("state"), `no report since ${new Date(quiet).toLocaleTimeString("en-GB")}: ${why}`);
	$("state").className = "lost";
}

// The one script that is loaded by a text: the browser lets nobody load another.
function script(name) {
	return globalThis.trustedTypes ? trustedTypes.createPolicy("dsvc", { createScriptURL: () => name }).createScriptURL(name) : name;
}

watch = new Worker(script("watch.js"), { type: "module" });
picture = new Picture($("picture"), at => {
	if (at)
		watch.postMessage(at);
	else
		put($("about"), "");
});
watch.onmessage = e => {
	const m = e.data, c = picture.cursor;
	if (m.model)
		show(m.model);
	else if (m.lost !== undefined)
		lost(m.lost);
	else if (c && m.about.key === c.key && m.about.index === c.index)
		put($("about"), m.text || "");
};
document.addEventListener("visibilitychange", () => watch.postMessage({ shown: !document.hidden }));
