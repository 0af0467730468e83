// SPDX-License-Identifier: MIT
// From a report of the dispatcher (v1/status) to what the page shows. No document is touched here, and nothing in a
// report is trusted to be of the right kind.

export const STATES = ["unknown", "running", "assigned", "waiting", "holding", "delivering", "finished", "failed"];
const state_of = new Map(STATES.map((s, i) => [s, i]));
const PAST = 20; // passes that are over
const EVENTS = 50;

const num = v => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const text = v => (typeof v === "string" ? v : "");
const list = v => (Array.isArray(v) ? v.filter(x => x && typeof x === "object") : []);

const share = (part, rest) => (part + rest > 0 ? part / (part + rest) : 0);
export const percent = x => `${Math.round(100 * x)} %`;

// Elements a second since the report before, or what the dispatcher says.
function rate_of(key, acked, said, before, seconds) {
	const was = before && before.get(key);
	return was !== undefined && seconds > 0.2 && acked >= was ? (acked - was) / seconds : said;
}

function worker_of(w) {
	return {
		id: text(w.peer), name: text(w.name), host: text(w.hostname) || text(w.host), pid: num(w.pid), slots: num(w.slots),
		streams: num(w.streams), kept: num(w.kept_bytes), silent: num(w.silent_ms),
		state: w.awaited ? "awaited" : w.draining ? "draining" : "live",
	};
}

// The sentence that says who waits for whom.
export function verdict(p) {
	if (p.state === "failed")
		return p.error;
	if (p.state !== "running")
		return "";
	if (p.stands_still)
		return p.stands_still;
	if (p.waits_for)
		return `waits for consumer ${p.waits_for}`;
	if (!p.readers)
		return "no reader";
	if (p.wait >= 0.2 && p.wait >= p.stalled)
		return `readers wait for workers, ${percent(p.wait)} of their time`;
	if (p.out >= 0.5)
		return `readers wait for whoever takes what they write, ${percent(p.out)} of their time`;
	if (p.stalled >= 0.2)
		return `workers wait for readers, ${percent(p.stalled)} of their time`;
	return "nobody waits for long";
}

// The states of the listed streams and their workers (index + 1), a byte and two each.
function cells_of(streams, index) {
	const cells = new Uint8Array(streams.length), owner = new Uint16Array(streams.length), links = new Map();
	streams.forEach((s, i) => {
		const w = index.get(text(s.worker));
		cells[i] = state_of.get(s.state) || 0;
		owner[i] = w === undefined || w > 65534 ? 0 : w + 1;
		if (owner[i] && s.state !== "finished")
			links.set(w, (links.get(w) || 0) + 1);
	});
	return { cells, owner, links: [...links] };
}

function pass_of(job, it, index) {
	const lately = it.lately && typeof it.lately === "object" ? it.lately : {};
	const p = {
		key: `${num(job.job)}/${num(it.epoch)}`, job: text(job.name) || String(num(job.job)), epoch: num(it.epoch),
		state: text(it.state), error: text(it.error), readers: num(it.readers), waits_for: text(it.waits_for),
		stands_still: text(it.stands_still), known: num(it.streams_known), finished: num(it.streams_finished),
		acked: num(it.acknowledged), rate: num(it.per_second), wait: num(it.reader_wait_ratio),
		busy_ms: num(lately.slot_work_ms), stalled_ms: num(lately.slot_wait_ms),
		stalled: share(num(lately.slot_wait_ms), num(lately.slot_work_ms)),
		out: num(lately.reader_out_ms) / Math.max(1, num(lately.reader_work_ms) + num(lately.reader_wait_ms)),
		live: it.state === "running" || it.state === "listing",
	};
	Object.assign(p, cells_of(p.live ? list(it.streams) : [], index));
	return p;
}

function reader_of(r, names) {
	const job = num(r.job);
	return {
		id: text(r.peer), name: text(r.name), host: text(r.hostname) || text(r.host), job: job ? names.get(job) || String(job) : "",
		pass: job ? `${job}/${num(r.epoch)}` : "", epoch: num(r.epoch), acked: num(r.acknowledged), rate: 0,
		state: r.waiting ? "waiting" : job ? "reading" : "idle",
	};
}

function events_of(report, before, now) {
	const seen = before ? before.events : [];
	const last = seen.length ? seen[0].number : 0;
	const fresh = list(report.events).filter(e => num(e.number) > last)
		.map(e => ({ number: num(e.number), at: now - num(e.ago_ms), text: text(e.text) }));
	return [...fresh.sort((a, b) => b.number - a.number), ...seen].slice(0, EVENTS);
}

// What the page shows of a report, given the digest of the one before; now: ms of this machine's clock.
export function digest(report, before, now) {
	const same = before && before.instance === text(report.instance) ? before : null;
	const seconds = same ? (num(report.clock_ms) - same.clock) / 1000 : 0;
	const workers = list(report.workers).map(worker_of);
	const index = new Map(workers.map((w, i) => [w.name, i]));
	const jobs = list(report.jobs), names = new Map(jobs.map(j => [num(j.job), text(j.name)]));
	const all = jobs.flatMap(j => list(j.iterations).map(it => pass_of(j, it, index)));
	const live = all.filter(p => p.live), over = all.filter(p => !p.live);
	const passes = [...live, ...over.slice(-PAST).reverse()];
	const readers = list(report.readers).map(r => reader_of(r, names));
	const acked = new Map();
	for (const p of live)
		p.rate = rate_of(p.key, p.acked, p.rate, same && same.acked, seconds);
	for (const r of readers)
		r.rate = rate_of(r.id, r.acked, 0, same && same.acked, seconds);
	for (const x of [...live.map(p => [p.key, p.acked]), ...readers.map(r => [r.id, r.acked])])
		acked.set(x[0], x[1]);
	return {
		instance: text(report.instance), durable: report.durable === true, clock: num(report.clock_ms), acked,
		slots: num(report.slots), workers_wanted: num(report.workers_wanted), slots_wanted: num(report.slots_wanted),
		workers, readers, passes, more: over.length - Math.min(over.length, PAST) + num(report.jobs_more),
		events: events_of(report, same, now),
	};
}

// One stream of a report, as text; undefined: there is no such stream any more.
export function about_stream(report, key, i) {
	for (const j of list(report && report.jobs))
		for (const it of list(j.iterations)) {
			if (`${num(j.job)}/${num(it.epoch)}` !== key)
				continue;
			const s = list(it.streams)[i];
			if (!s)
				return undefined;
			const where = text(s.worker) ? ` at worker ${text(s.worker)}` : "";
			return `${text(j.name) || num(j.job)}, pass ${num(it.epoch)}, stream ${num(s.stream)}: ${text(s.state)}${where}, ` +
				`generation ${num(s.generation)}, ${num(s.splits)} splits, ${num(s.acknowledged)} acknowledged`;
		}
	return undefined;
}
