// SPDX-License-Identifier: MIT
// The thread that asks for reports and makes of each the little that the page shows. A report of ten thousand streams
// has two megabytes: parsed here, it holds up no frame.
import { about_stream, digest } from "./model.js";

const EVERY = 1000, PATIENCE = 10000; // ms
let report = null, before = null, shown = true, busy = false, timer = 0;

async function ask() {
	const answer = await fetch("v1/status", { cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) });
	const body = await answer.json();
	if (!answer.ok)
		throw new Error(typeof body.error === "string" ? body.error : `the answer is ${answer.status}`);
	return body;
}

async function look() {
	timer = 0;
	busy = true;
	try {
		report = await ask();
		before = digest(report, before, Date.now());
		const { acked, ...model } = before;
		postMessage({ model });
	} catch (e) {
		postMessage({ lost: e instanceof Error ? e.message : String(e) });
	}
	busy = false;
	if (shown)
		timer = setTimeout(look, EVERY);
}

onmessage = e => {
	if ("shown" in e.data) {
		shown = e.data.shown;
		if (shown && !timer && !busy)
			timer = setTimeout(look, 0);
	} else {
		postMessage({ about: e.data, text: about_stream(report, e.data.key, e.data.index) });
	}
};
look();
