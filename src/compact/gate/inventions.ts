const PATH_RUN = /[\w$@~.+\-/]+/g;
const ENDING = /\.([A-Za-z][A-Za-z0-9]{0,6})$/;
const KNOWN_ENDINGS = new Set(
  (
    "ts tsx js jsx mjs cjs mts py pyi go rs java kt cs rb c h cpp hpp cc php swift scala lua sql sh bash zsh ps1 yml yaml toml " +
    "json jsonl md mdx txt rst html css scss vue svelte lock env cfg ini conf log csv xml proto tf ipynb db sqlite gradle ex exs"
  ).split(" "),
);
const ADDRESS = /\b(?:https?|ftp|wss?):\/\/[^\s<>()[\]"'`，。；、]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gi;
const DANGEROUS =
  /(?:\b(?:curl|wget|nc|ncat|scp|ssh|sudo|eval|mkfs|dd|powershell|invoke-webrequest|iex|chmod|chown)\s+[^\s`].{2,200}|\brm\s+-\w*[rf].{1,200}|\|\s*(?:ba|z)?sh\b.{0,40}|\bgit push\b.{0,40}--force.{0,40}|\bdrop (?:table|database)\b.{1,60}|\bbase64 (?:-d|--decode).{0,80})/i;

/** Files that the summary names and the source does not. */
export function findInventedFiles(summary: string, source: string): readonly string[] {
  const files = new Set<string>();
  for (const [run] of summary.replace(ADDRESS, " ").replaceAll("\\", "/").matchAll(PATH_RUN))
    for (const path of findPaths(run)) if (!hasPath(path, source)) files.add(path);
  return [...files];
}

/** Web and mail addresses that the summary names and the source does not. */
export function findInventedAddresses(summary: string, source: string): readonly string[] {
  const found = [...summary.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?/]+$/, ""));
  return [...new Set(found)].filter((address) => {
    if (source.includes(address)) return false;
    const [, host, path] = /^\w+:\/\/([^/]+)(.*)$/.exec(address) ?? [];
    const steps = (path ?? "").split(/[/?#&=]/).filter((step) => step.length > 2);
    return host === undefined || !source.includes(host) || !steps.every((step) => source.includes(step));
  });
}

/** Potentially harmful commands in the summary that do not occur in the source. */
export function findInventedCommands(summary: string, source: string): readonly string[] {
  const code = [...summary.matchAll(/`([^`\n]{3,300})`/g)].map((match) => match[1] as string);
  const lines = summary
    .split("\n")
    .flatMap((line) => /^\s*(?:[-*]\s+)?(?:\$|>|run:?|执行[:：]?)\s+(.*)$/i.exec(line)?.[1] ?? []);
  const plain = normalizeCode(source);
  return [...code, ...lines, ...listCodeLines(summary)].filter((command) => {
    const dangerous = DANGEROUS.exec(command)?.[0];
    return dangerous !== undefined && splitClippedCommand(dangerous).some((piece) => !plain.includes(piece));
  });
}

/** Every piece of a clipped command must occur. */
function splitClippedCommand(command: string): readonly string[] {
  return normalizeCode(command)
    .split("…")
    .map((piece) => piece.replace(/[.\s]+$/, "").trim())
    .filter((piece) => piece.length > 2);
}

function normalizeCode(text: string): string {
  return text.replaceAll("\\", "/").replaceAll("`", "'").replace(/\s+/g, " ");
}

function listCodeLines(summary: string): readonly string[] {
  return [...summary.matchAll(/```[^\n]*\n([\s\S]*?)```/g)].flatMap((match) =>
    (match[1] as string).split("\n"),
  );
}

/** The paths in a run of characters; `a.json/b.json` is two paths. */
function findPaths(run: string): readonly string[] {
  const path = run.replace(/^[.+\-@~]+(?=[^./])|^(?:\.\/)+/, "").replace(/[.+\-/@~]+$/, "");
  const steps = path.split("/").filter(Boolean);
  if (steps.length > 1 && steps.slice(0, -1).some((step) => KNOWN_ENDINGS.has(getEnding(step))))
    return steps.flatMap(findPaths);
  if (steps.length > 1) return ENDING.test(path) || /^\/(?:[\w.-]+\/)+[\w.-]+$/.test(path) ? [path] : [];
  // Names such as Node.js are projects and not files.
  if (/^[A-Z][a-z]+\.js$/.test(path)) return [];
  return path.length > 3 && KNOWN_ENDINGS.has(getEnding(path)) && !path.startsWith(".") ? [path] : [];
}

function getEnding(name: string): string {
  return ENDING.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** A path occurs if the source contains it whole, or contains both a folder and the path inside it. */
function hasPath(path: string, source: string): boolean {
  if (source.includes(path)) return true;
  const steps = path.split("/");
  for (let from = 1; from <= steps.length - 1; from++) {
    const folder = steps.slice(0, from).join("/");
    if (folder !== "" && source.includes(folder) && source.includes(steps.slice(from).join("/"))) return true;
  }
  return false;
}
