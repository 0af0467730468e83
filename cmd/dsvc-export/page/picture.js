// SPDX-License-Identifier: MIT
// The picture: workers on the left, the streams of each pass in the middle, a square each, and its readers on the right.
// It is drawn at most once a frame, and only while something moves; the squares of a pass are an image that is made
// again when its streams have changed, so a frame costs the same with ten streams and with ten thousand.
import { STATES, percent } from "./model.js";

const ROW = 22, TITLE = 36, GAP = 16, PAD = 10; // px
const WORKERS = 40, PASSES = 40, DOTS = 60;     // drawn at most
const FRAME = 33;                               // ms between frames while dashes move
const FLASH = 700;                              // ms in which a changed square fades
const PALE = 0x40000000;                        // alpha of squares that are not of the chosen worker

const calm = matchMedia("(prefers-reduced-motion: reduce)");

function cell_size(n) {
	return n <= 64 ? 14 : n <= 400 ? 10 : n <= 2000 ? 6 : 4;
}

// #rrggbb as a pixel of ImageData on a little-endian machine.
function pixel(color) {
	const n = parseInt(color.slice(1), 16);
	return (0xff000000 | (n & 0xff) << 16 | (n & 0xff00) | n >> 16) >>> 0;
}

// A text of at most that many pixels.
function clip(g, text, width) {
	if (g.measureText(text).width <= width)
		return text;
	let low = 0, high = Math.min(text.length, 200);
	while (low < high) {
		const mid = (low + high + 1) >> 1;
		if (g.measureText(text.slice(0, mid) + "…").width <= width)
			low = mid;
		else
			high = mid - 1;
	}
	return text.slice(0, low) + "…";
}

export class Picture {
	constructor(canvas, chosen) {
		this.canvas = canvas;
		this.g = canvas.getContext("2d");
		this.chosen = chosen; // called with { key, index } of a stream, or null
		this.model = { workers: [], passes: [], readers: [] };
		this.bands = new Map(); // of passes, by key: they outlive reports
		this.cursor = null;
		this.worker = null;     // id of the chosen one
		this.pass = null;
		this.due = 0;
		this.drawn = 0;
		this.layout();
		this.colors();
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.colors());
		new ResizeObserver(() => this.layout()).observe(canvas);
		canvas.addEventListener("pointermove", e => this.point(e));
		canvas.addEventListener("pointerleave", () => this.move(null));
		canvas.addEventListener("keydown", e => this.key(e));
	}

	colors() {
		const css = getComputedStyle(document.documentElement), of = name => css.getPropertyValue(name).trim();
		this.pixels = STATES.map(s => pixel(this.#six(of(`--s-${s}`))));
		this.ink = { text: of("--text"), quiet: of("--quiet"), line: of("--line"), accent: of("--accent"), warn: of("--warn"),
			panel: of("--panel"), running: of("--s-running") };
		for (const b of this.bands.values())
			b.stale = true;
		this.want();
	}

	#six(color) {
		return color.length === 4 ? "#" + [...color.slice(1)].map(c => c + c).join("") : color;
	}

	update(model) {
		const keep = new Map();
		this.model = model;
		for (const p of model.passes.filter(x => x.live).slice(0, PASSES)) {
			const band = this.bands.get(p.key) || { changed: new Float64Array(0), image: document.createElement("canvas") };
			this.#changes(band, p);
			band.pass = p;
			band.readers = model.readers.filter(r => r.pass === p.key);
			keep.set(p.key, band);
		}
		this.bands = keep;
		if (this.cursor && !(this.cursor.index < (keep.get(this.cursor.key)?.pass.cells.length || 0)))
			this.move(null);
		this.layout();
	}

	// When each stream last changed; a new one has not.
	#changes(band, p) {
		const was = band.pass ? band.pass.cells : p.cells, at = performance.now();
		const changed = new Float64Array(p.cells.length);
		let any = !band.pass || was.length !== p.cells.length;
		changed.set(band.changed.subarray(0, Math.min(band.changed.length, changed.length)));
		for (let i = 0; i < p.cells.length; i++)
			if (i < was.length && was[i] !== p.cells[i]) {
				changed[i] = at;
				any = true;
			}
		band.changed = changed;
		if (any)
			band.flash = at + FLASH;
		band.stale = true;
	}

	layout() {
		const w = this.canvas.clientWidth, scale = Math.min(window.devicePixelRatio || 1, 2);
		const side = Math.max(80, Math.min(220, w * 0.22)), gap = w < 500 ? 12 : 56;
		const mid = Math.max(60, w - 2 * side - 2 * gap - 2 * PAD);
		let y = PAD;
		this.at = { left: PAD, side, gap, grid: PAD + side + gap, mid, right: PAD + side + gap + mid + gap };
		for (const b of this.bands.values()) {
			const n = b.pass.cells.length;
			b.cell = cell_size(n);
			b.columns = Math.max(1, Math.min(n, Math.floor(mid / b.cell)));
			b.rows = Math.ceil(n / b.columns);
			b.y = y;
			b.height = TITLE + Math.max(b.rows * b.cell, ROW);
			y += b.height + GAP;
		}
		const workers = Math.min(this.model.workers.length, WORKERS) + (this.model.workers.length > WORKERS);
		const h = Math.round(Math.max(y, PAD + workers * ROW + PAD, 4 * ROW));
		if (this.canvas.width !== Math.round(w * scale) || this.canvas.height !== Math.round(h * scale)) {
			this.canvas.style.height = `${h}px`;
			this.canvas.width = Math.round(w * scale);
			this.canvas.height = Math.round(h * scale);
			this.drawn = 0; // it is empty now
		}
		this.size = { w, h, scale };
		this.want();
	}

	want() {
		if (!this.due)
			this.due = requestAnimationFrame(t => this.frame(t));
	}

	// Dashes move along what flows, and squares that changed fade.
	#moves() {
		if (calm.matches || document.hidden)
			return false;
		const now = performance.now();
		for (const b of this.bands.values())
			if (b.pass.rate > 0 || b.flash > now)
				return true;
		return false;
	}

	frame(t) {
		this.due = 0;
		if (t - this.drawn >= FRAME || !this.#moves()) {
			this.drawn = t;
			this.draw(t);
		}
		if (this.#moves())
			this.want();
	}

	draw(t) {
		const g = this.g, { w, h, scale } = this.size, a = this.at;
		g.setTransform(scale, 0, 0, scale, 0, 0);
		g.clearRect(0, 0, w, h);
		g.font = "13px system-ui, sans-serif";
		g.textBaseline = "middle";
		g.fillStyle = this.ink.quiet;
		if (!this.model.workers.length)
			g.fillText(clip(g, "no workers", a.side), a.left, PAD + ROW / 2);
		if (!this.bands.size)
			g.fillText(clip(g, "nothing is read", a.mid), a.grid, PAD + ROW / 2);
		this.#links(t);
		this.model.workers.slice(0, WORKERS).forEach((x, i) => this.#worker(x, PAD + i * ROW));
		if (this.model.workers.length > WORKERS) {
			g.fillStyle = this.ink.quiet;
			g.fillText(`and ${this.model.workers.length - WORKERS} more`, a.left, PAD + WORKERS * ROW + ROW / 2);
		}
		for (const b of this.bands.values())
			this.#band(b);
	}

	#flow(color, width, moves, t) {
		const g = this.g;
		g.strokeStyle = color;
		g.lineWidth = width;
		g.setLineDash(moves ? [6, 4] : []);
		g.lineDashOffset = moves && !calm.matches ? -(t / 40) % 10 : 0;
	}

	#links(t) {
		const g = this.g, a = this.at, from = a.left + a.side + 4, to = a.grid - 4;
		g.globalAlpha = 0.55;
		for (const b of this.bands.values()) {
			const p = b.pass, y = b.y + TITLE + Math.min(b.height - TITLE, 3 * ROW) / 2;
			const held = p.stalled >= 0.2 && p.stalled > p.wait, starved = p.wait >= 0.2 && !held;
			for (const [w, n] of p.links) {
				const v = PAD + Math.min(w, WORKERS) * ROW + ROW / 2, mid = (from + to) / 2;
				this.#flow(held ? this.ink.warn : this.ink.accent, 1 + Math.min(4, Math.log2(n)), p.rate > 0, t);
				g.beginPath();
				g.moveTo(from, v);
				g.bezierCurveTo(mid, v, mid, y, to, y);
				g.stroke();
			}
			if (b.readers.length) {
				this.#flow(starved ? this.ink.warn : this.ink.accent, 3, p.rate > 0, t);
				g.beginPath();
				g.moveTo(a.grid + b.columns * b.cell + 4, y);
				g.lineTo(a.right - 6, y);
				g.stroke();
			}
		}
		g.globalAlpha = 1;
		g.setLineDash([]);
	}

	#worker(w, y) {
		const g = this.g, a = this.at, part = w.slots ? Math.min(1, w.streams / w.slots) : 0;
		g.fillStyle = this.ink.line;
		g.fillRect(a.left, y + ROW - 6, a.side, 3);
		g.fillStyle = w.state === "live" ? this.ink.running : this.ink.warn;
		g.fillRect(a.left, y + ROW - 6, a.side * part, 3);
		g.fillStyle = w.id === this.worker ? this.ink.accent : w.state === "live" ? this.ink.text : this.ink.quiet;
		g.fillText(clip(g, w.state === "live" ? w.name : `${w.name} (${w.state})`, a.side), a.left, y + 8);
	}

	#band(b) {
		const g = this.g, a = this.at, p = b.pass, room = a.mid, now = performance.now();
		g.fillStyle = p.key === this.pass ? this.ink.accent : this.ink.text;
		g.fillText(clip(g, p.job, room), a.grid, b.y + 8);
		g.fillStyle = this.ink.quiet;
		const unlisted = p.known - p.cells.length;
		g.fillText(clip(g, `pass ${p.epoch}, ${Math.round(p.rate)}/s, ${p.finished} of ${p.known} streams ended` +
			(unlisted > 0 ? `, ${unlisted} not listed` : ""), room), a.grid, b.y + 24);
		if (b.stale || b.flash > now || b.faded !== (b.flash > now)) {
			this.#paint(b, now);
			b.faded = b.flash > now;
		}
		if (p.cells.length) {
			g.imageSmoothingEnabled = false;
			g.drawImage(b.image, a.grid, b.y + TITLE);
		}
		this.#readers(b);
		if (this.cursor && this.cursor.key === p.key) {
			const i = this.cursor.index, x = a.grid + (i % b.columns) * b.cell, y = b.y + TITLE + Math.floor(i / b.columns) * b.cell;
			g.strokeStyle = this.ink.text;
			g.lineWidth = 2;
			g.strokeRect(x - 1, y - 1, b.cell + 1, b.cell + 1);
		}
	}

	// The squares of a pass as an image: written as pixels, since that many rectangles would take a frame.
	#paint(b, now) {
		const p = b.pass, w = b.columns * b.cell, h = b.rows * b.cell, size = b.cell - 1;
		b.stale = false;
		if (!w || !h)
			return;
		if (b.image.width !== w || b.image.height !== h) {
			b.image.width = w;
			b.image.height = h;
		}
		const c = b.image.getContext("2d"), data = c.createImageData(w, h), px = new Uint32Array(data.data.buffer);
		const chosen = this.worker === null ? 0 : this.model.workers.findIndex(x => x.id === this.worker) + 1;
		for (let i = 0; i < p.cells.length; i++) {
			let color = this.pixels[p.cells[i]];
			const since = now - b.changed[i];
			if (chosen && p.owner[i] !== chosen)
				color = (color & 0xffffff | PALE) >>> 0;
			else if (b.changed[i] && since < FLASH && !calm.matches)
				color = (color & 0xffffff | Math.round(90 + 165 * since / FLASH) << 24) >>> 0;
			const from = Math.floor(i / b.columns) * b.cell * w + (i % b.columns) * b.cell;
			for (let y = 0; y < size; y++)
				px.fill(color, from + y * w, from + y * w + size);
		}
		c.putImageData(data, 0, 0);
	}

	#readers(b) {
		const g = this.g, a = this.at, p = b.pass, per = Math.max(1, Math.floor(a.side / 11));
		const room = Math.max(10, this.size.w - a.right - PAD);
		g.fillStyle = this.ink.text;
		g.fillText(clip(g, `${p.readers} reader${p.readers === 1 ? "" : "s"}`, room), a.right, b.y + 8);
		g.fillStyle = p.wait >= 0.2 ? this.ink.warn : this.ink.quiet;
		g.fillText(clip(g, `wait ${percent(p.wait)}`, room), a.right, b.y + 24);
		const shown = Math.min(b.readers.length, DOTS, per * Math.max(1, Math.floor((b.height - TITLE) / 11)));
		g.lineWidth = 1.5;
		for (let i = 0; i < shown; i++) {
			g.beginPath();
			g.arc(a.right + 4 + (i % per) * 11, b.y + TITLE + 6 + Math.floor(i / per) * 11, 4, 0, 7);
			g.fillStyle = this.ink.accent;
			g.strokeStyle = this.ink.warn;
			if (b.readers[i].state === "reading")
				g.fill();
			else
				g.stroke();
		}
	}

	choose_worker(id) {
		this.worker = this.worker === id ? null : id;
		for (const b of this.bands.values())
			b.stale = true;
		this.want();
	}

	choose_pass(key) {
		this.pass = this.pass === key ? null : key;
		this.want();
	}

	// Which stream

	move(to) {
		if (to ? this.cursor && to.key === this.cursor.key && to.index === this.cursor.index : !this.cursor)
			return;
		this.cursor = to;
		this.chosen(to);
		this.want();
	}

	point(e) {
		const x = e.offsetX - this.at.grid;
		for (const b of this.bands.values()) {
			const y = e.offsetY - b.y - TITLE, column = Math.floor(x / b.cell), i = Math.floor(y / b.cell) * b.columns + column;
			if (x >= 0 && y >= 0 && column < b.columns && y < b.rows * b.cell && i < b.pass.cells.length)
				return this.move({ key: b.pass.key, index: i });
		}
		return this.move(null);
	}

	key(e) {
		const bands = [...this.bands.values()].filter(b => b.pass.cells.length);
		const at = this.cursor ? bands.findIndex(b => b.pass.key === this.cursor.key) : -1, b = bands[Math.max(at, 0)];
		const steps = b && { ArrowRight: 1, ArrowLeft: -1, ArrowDown: b.columns, ArrowUp: -b.columns, Home: -Infinity, End: Infinity };
		if (e.key === "Escape")
			return this.move(null);
		if (!b || !(e.key in steps) || e.ctrlKey || e.altKey || e.metaKey)
			return undefined;
		e.preventDefault();
		const last = b.pass.cells.length - 1, to = at < 0 ? 0 : this.cursor.index + steps[e.key];
		if (to > last && at >= 0 && at + 1 < bands.length && steps[e.key] !== Infinity)
			return this.move({ key: bands[at + 1].pass.key, index: 0 });
		if (to < 0 && at > 0 && steps[e.key] !== -Infinity)
			return this.move({ key: bands[at - 1].pass.key, index: bands[at - 1].pass.cells.length - 1 });
		return this.move({ key: b.pass.key, index: Math.max(0, Math.min(last, to)) });
	}
}
