const URL = /\b[a-z][a-z0-9+.-]*:\/\/\S+|\bwww\.\S+/gi;
const FENCED_CODE = /```[\s\S]*?(?:```|$)/g;
const PATH = /(?:^|[\s("'`@=,:：，。、（「“])((?:~|\.{1,2}|[A-Za-z]:)?[\\/]?(?:[\w.@+-]+[\\/])+[\w.@+-]*\w)/g;
const EXTENSIONS =
  "tsx?|jsx?|mjs|cjs|py|rs|go|java|kt|swift|rb|php|cs|cpp|cc|hpp|c|h|m|scala|sh|bash|ps1|sql|html?|css|scss|vue|svelte|json|jsonl|ya?ml|toml|ini|env|lock|xml|md|mdx|rst|txt|csv|tsv|pdf|docx?|xlsx?|log|proto|graphql|ipynb|tf|gradle";
const FILE = new RegExp(`(?<![\\w/\\\\.@])@?([\\w-][\\w.-]*\\.(?:${EXTENSIONS}))(?![\\w/])`, "g");
/** Products whose names look like files. */
const PRODUCTS =
  /^(?:node|vue|next|nuxt|three|express|react|angular|ember|backbone|d3|chart|p5|deno|bun|solid|alpine|discord|socket|moment)\.(?:js|ts|io)$/i;
const QUOTED = /`([^`\n]{2,80})`/g;
const CALL = /\b([A-Za-z_$][\w$]{2,})\(\)/g;
/** Names with only two capitalized parts are mostly companies, so three are required. */
const IDENTIFIER =
  /\b([a-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+){2,}|[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g;
/** Longer messages contain pasted text, whose names are not the subject. */
const MAX_CHARACTERS = 4_000;
const MAX_NAMES = 20;

/** Files and code identifiers in a message. */
interface CodeMentions {
  readonly files: readonly string[];
  readonly names: readonly string[];
}

/** The files and code identifiers in a message; URLs and pasted code do not count. */
export function findCodeMentions(message: string): CodeMentions {
  const text = message.slice(0, MAX_CHARACTERS).replace(FENCED_CODE, " ").replace(URL, " ");
  const files = new Set<string>();
  for (const [, path] of text.matchAll(PATH)) if (path && isPath(path)) files.add(path);
  for (const [, file] of text.matchAll(FILE))
    if (file && !PRODUCTS.test(file) && ![...files].some((path) => path.endsWith(file))) files.add(file);
  const names = new Set<string>();
  for (const pattern of [QUOTED, CALL, IDENTIFIER])
    for (const [, name] of text.matchAll(pattern))
      if (name && ![...files].some((file) => file.includes(name))) names.add(name.trim());
  return { files: [...files].slice(0, MAX_NAMES), names: [...names].slice(0, MAX_NAMES) };
}

const ROOTS =
  /^(?:src|lib|libs|test|tests|spec|docs?|apps?|packages|cmd|internal|pkg|bin|scripts?|config|examples?|server|client|web|public|assets|api|core|tools)$/;

/** Distinguishes paths from dates, fractions and "and/or", which also contain slashes. */
function isPath(path: string): boolean {
  const pieces = path.split(/[\\/]/).filter((piece) => piece !== "");
  const [first = ""] = pieces;
  if (/\.[A-Za-z]\w{0,7}$/.test(path)) return true;
  if (/^(?:~|\.{1,2}|[A-Za-z]:)?[\\/]/.test(path)) return pieces.length > 2;
  return pieces.length > 1 && ROOTS.test(first);
}
