/**
 * The browser script of the status page. Data from the gateway is inserted as text, never as markup. The token is kept
 * in a variable, so a reload forgets it.
 */
export const FRONT_SCRIPT = `
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const EVERY_MS = 3000;
  let token = "";
  let connected = "";

  const el = (tag, className, ...children) => {
    const one = document.createElement(tag);
    if (className) one.className = className;
    one.append(...children.filter((child) => child !== undefined && child !== null).map((child) => child instanceof Node ? child : String(child)));
    return one;
  };
  const count = (value) => Number(value || 0).toLocaleString("en");
  const short = (value) => value >= 1e6 ? (value / 1e6).toFixed(1) + "M" : value >= 1e4 ? Math.round(value / 1e3) + "k" : count(value);
  const dollars = (value) => (value < 0 ? "−$" : "$") + Math.abs(value || 0).toFixed(2);
  const saving = ({ savings }) => dollars(savings.savedCost) + " of " + dollars(savings.withoutCost);
  const ownCost = ({ savings }) => dollars(savings.extraWriteCost + savings.summaryCost) + ", " + (savings.overheadMs / Math.max(1, savings.requests)).toFixed(1) + " ms a request";
  const ago = (at) => {
    const seconds = Math.max(0, (Date.now() - at) / 1000);
    if (seconds < 60) return "just now";
    if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
    if (seconds < 86400) return Math.floor(seconds / 3600) + " h ago";
    return new Date(at).toLocaleDateString();
  };
  const fill = (id, rows, nothing) => $(id).replaceChildren(...(rows.length ? rows : [el("div", "row dim", nothing)]));

  async function ask(path, options = {}) {
    const headers = token ? { authorization: "Bearer " + token } : {};
    const response = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit", redirect: "error" });
    if (response.status === 401) throw Object.assign(new Error(token ? "The gateway does not accept this token." : ""), { isClosed: true });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error((answer.error && answer.error.message) || "The gateway replied with status " + response.status + ".");
    return answer;
  }
  function tell(error) {
    const message = error instanceof TypeError ? "The gateway does not respond." : error.message;
    $("problem").textContent = message;
    $("problem").hidden = !message;
    if (error.isClosed) {
      $("door").hidden = false;
      $("inside").hidden = true;
    }
  }

  function showTotals({ totals, threads }) {
    const sum = totals || {};
    const cards = totals
      ? [["Requests", count(sum.requests)], ["Spent", dollars(sum.spending.spentCost)], ["Saved by edits, estimated", saving(sum.spending)], ["Cost of edits, included", ownCost(sum.spending)],
         ["Context edits", count(sum.edits)], ["Errors recovered", count(sum.healed)]]
      : [["Conversations", count(threads.length)]];
    $("totals").replaceChildren(...cards.map(([name, value]) => el("div", "card", el("b", "", value), el("span", "dim", name))));
  }
  function showMemory({ memory }) {
    const [newest] = (memory && memory.notices) || [];
    const isFresh = newest && (memory.level !== "normal" || Date.now() - newest.at < 600000);
    $("memory").hidden = !isFresh;
    if (isFresh) $("memory").textContent = newest.text + " (" + ago(newest.at) + ")";
  }
  function showUpstreams({ upstreams, missing }) {
    const key = (one) => one.hasKey ? el("span", "pill", "key from " + one.keyEnv) : el("span", "dim", "the agent's own key");
    const rows = upstreams.map((one) => el("div", "row", el("b", "", one.name),
      el("span", "wide dim", one.baseUrl, " · ", one.apis.join(", "), one.prefix ? " · " + one.prefix + "…" : "", one.models ? " · " + one.models.join(", ") : ""),
      one.requests ? el("span", one.failures ? "warm number" : "dim number", count(one.requests) + " requests" + (one.failures ? ", " + count(one.failures) + " failed" : "")) : undefined,
      key(one)));
    for (const { name, variable } of missing) {
      if (!upstreams.some((one) => one.name === name)) rows.push(el("div", "row dim", el("span", "", name), el("span", "wide", "set ", el("code", "", variable))));
    }
    fill("upstreams", rows, "None.");
  }
  function showThreads({ threads }) {
    fill("threads", threads.map((one) => {
      const bar = el("progress", one.tokens > 0.9 * one.window ? "full" : "");
      bar.max = one.window || 1;
      bar.value = Math.min(one.tokens, one.window);
      bar.title = count(one.tokens) + " of " + count(one.window) + " tokens";
      const saved = one.spending.savings.removedTokens ? saving(one.spending) + " saved, estimated" : "";
      return el("div", "row", el("span", "wide", el("b", "", one.client || one.session), " ", el("span", "dim", one.kind === "main" ? "" : one.kind, " ", one.model || "")),
        el("span", "dim number", saved), el("span", "number", short(one.tokens) + " of " + short(one.window)),
        el("span", "dim", one.inFlight ? "active" : ago(one.lastAt)), bar,
        ...one.edits.map(({ at, text }) => el("span", "news", text, el("span", "dim", " · ", ago(at)))));
    }), "None yet. Point an agent at this gateway.");
  }
  const done = (missing, all) => Math.floor(100 * Math.max(0, all - missing) / Math.max(1, all)) + "%";
  function showIndex({ index }) {
    $("index").hidden = !index;
    if (!index) return;
    const { entries, chunks, unindexed, unembedded } = index;
    const missing = [unindexed ? done(unindexed, entries) + " of " + count(entries) + " entries indexed" : "",
      unembedded ? done(unembedded, chunks) + " of " + count(chunks) + " chunks with vectors" : ""].filter(Boolean);
    $("index").textContent = missing.length ? "Index: " + missing.join(", ") + ". A recall indexes the rest, or longhaul index." : "Index: complete, " + count(entries) + " entries.";
  }
  function showAgents({ agents }) {
    if (connected === JSON.stringify(agents)) return;
    connected = JSON.stringify(agents);
    $("agents").replaceChildren(...agents.map(({ agent, place, lines }) => {
      const copy = el("button", "", "Copy");
      copy.addEventListener("click", async () => {
        await navigator.clipboard.writeText(lines).then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Select the text"; });
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      });
      return el("details", "", el("summary", "", el("b", "", agent), " ", el("span", "dim", place)), el("div", "", el("pre", "", lines), el("p", "", copy)));
    }));
  }
  function showWindow({ model, window, memories, overlays }) {
    const parts = Object.entries(window.parts).filter(([, tokens]) => tokens > 0).map(([name, tokens]) => name + " " + short(tokens));
    const lines = memories ? memories.facts.map(({ by, text }) => el("li", "", el("span", "dim", by, ": "), text)) : [];
    const news = overlays.filter((one) => one.announcement).map((one) => el("li", one.isHolding ? "" : "dim", one.announcement, el("span", "dim", one.isHolding ? "" : " · undone or replaced", " · ", ago(one.at))));
    return [
      el("p", "", "Window of ", count(window.tokens), " tokens", model ? " for " + model : "", ": ", el("span", "dim number", parts.join(" · "))),
      lines.length ? el("p", "", "Memories of ", memories.agent, ", with every call: ", count(memories.tokens), " tokens") : undefined,
      lines.length ? el("ul", "", ...lines) : undefined,
      news.length ? el("p", "", "Edits, newest first") : undefined,
      news.length ? el("ul", "", ...news) : undefined,
    ].filter(Boolean);
  }
  function buildSession(one) {
    const inside = el("div", "dim", "Loading…");
    const row = el("details", "", el("summary", "", el("span", "row", el("span", "wide", el("b", "", one.title || one.id), " ", el("span", "dim", one.title ? one.id : "")),
      el("span", "dim number", count(one.entries) + " entries"), el("span", "dim", ago(one.lastEntryAt || one.createdAt)))), inside);
    row.addEventListener("toggle", () => {
      if (!row.open) return;
      ask("/api/sessions/" + encodeURIComponent(one.id) + "?limit=1").then((answer) => {
        inside.className = "";
        inside.replaceChildren(...showWindow(answer));
      }, tell);
    });
    return row;
  }
  function showSessions({ sessions }) {
    fill("sessions", sessions.map(buildSession), "None yet.");
  }
  function showImport({ state, progress, indexed, embedded, totals, problems, error }) {
    const isBusy = state === "running" || state === "indexing";
    $("import").disabled = isBusy;
    const messages = totals && totals.added ? count(totals.added.messages) + " new messages from " + count(totals.sources) + " conversations" + (problems ? ", " + count(problems) + " problems" : "") : "";
    $("imported").textContent = state === "running" ? (progress ? progress.index + 1 + " of " + progress.count + ", " + count(progress.messages) + " messages" : "searching…")
      : state === "indexing" ? messages + "; indexing, " + Math.floor(100 * (0.6 * indexed + 0.4 * embedded)) + "%"
      : state === "failed" ? "failed: " + error : state === "idle" ? "" : state + ": " + messages;
    if (isBusy) setTimeout(() => ask("/api/import").then(showImport, tell), 500);
    else if (state !== "idle") ask("/api/sessions?limit=10").then(showSessions, tell);
  }

  /** The text of a hit with its best sentence and the question's words in it marked. */
  function buildHitText({ text, details: { sentence } }) {
    if (!sentence) return el("div", "hit", text);
    const { from, to, words } = sentence;
    const parts = [];
    let at = from;
    for (const word of words) {
      parts.push(text.slice(at, word.from), el("mark", "", text.slice(word.from, word.to)));
      at = word.to;
    }
    return el("div", "hit", text.slice(0, from), el("b", "", ...parts, text.slice(at, to)), text.slice(to));
  }
  function buildHit(hit) {
    const { likelihood, title, agent, project, work } = hit.details;
    const files = work ? (work.changedFiles.length ? ["changed ", work.changedFiles] : ["read ", work.readFiles]) : ["", []];
    const names = files[1].slice(0, 4).map((path) => path.split("/").slice(-2).join("/")).join(", ") + (files[1].length > 4 ? " and " + (files[1].length - 4) + " more" : "");
    const commit = work && work.commit ? "commit " + ([work.commit.hash, work.commit.subject].filter(Boolean).join(" ") || "#" + work.commit.seq) : "";
    const who = hit.memory ? "memory, " + hit.memory.by : hit.speaker || hit.author;
    const facts = [agent, project, new Date(hit.at).toLocaleString(), hit.entry || hit.path + ":" + hit.lines.first, who, names && files[0] + names, commit];
    return el("div", "row", el("span", "wide", el("b", "", title || hit.session || hit.path), " ", el("span", "dim", likelihood),
      buildHitText(hit), el("div", "dim", facts.filter(Boolean).join(" · "))));
  }
  async function refresh() {
    const status = await ask("/api/status");
    $("problem").hidden = true;
    $("door").hidden = true;
    $("inside").hidden = false;
    $("version").textContent = status.version;
    $("state").textContent = status.isOpen ? "open since " + new Date(status.startedAt).toLocaleTimeString() : "closing";
    const { policy, dryRun, threshold, control, recall, redact } = status.settings;
    $("settings").textContent = ["policy " + policy, dryRun ? "dry run" : "edits when they save money, at the latest at " + threshold + "%", control ? "control group " + 100 * control + "%" : "", recall.tools === "off" && !recall.context ? "" : "recall " + (recall.tools === "off" ? "context" : recall.tools), redact ? "redaction on" : ""].filter(Boolean).join(" · ");
    showMemory(status);
    showTotals(status);
    showUpstreams(status);
    showThreads(status);
    showIndex(status);
    showAgents(status);
  }
  async function open() {
    await refresh();
    showSessions(await ask("/api/sessions?limit=10"));
    await ask("/api/import").then(showImport, () => { $("import").hidden = true; });
  }

  $("door").addEventListener("submit", (event) => {
    event.preventDefault();
    token = $("token").value.trim();
    $("token").value = "";
    open().catch(tell);
  });
  $("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = $("question").value.trim();
    if (!question) return;
    $("hits").hidden = false;
    fill("hits", [], "Searching…");
    try {
      const { hits, isSure } = await ask("/api/recall?q=" + encodeURIComponent(question));
      const rows = hits.map(buildHit);
      if (hits.length && !isSure) rows.unshift(el("div", "row warm", "Low confidence: the hits match little of the question."));
      fill("hits", rows, "Nothing found.");
    } catch (error) {
      $("hits").hidden = true;
      tell(error);
    }
  });
  $("import").addEventListener("click", () => ask("/api/import", { method: "POST" }).then(showImport, tell));
  setInterval(() => {
    if (!document.hidden && !$("inside").hidden) refresh().catch(tell);
  }, EVERY_MS);
  open().catch(tell);
})();
`;
