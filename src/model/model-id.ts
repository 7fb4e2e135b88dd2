/** A model id without prefixes and suffixes added by providers and tools. */
interface PlainModelId {
  readonly name: string;
  /** True for an id that requests a window of a million tokens. */
  readonly isMillion: boolean;
}

/** Strips routes, regions and vendors from an id and writes Claude versions the way Anthropic does. */
export function parseModelId(id: string): PlainModelId {
  const last = id.trim().toLowerCase().split("/").at(-1) ?? "";
  const isMillion = last.endsWith("[1m]");
  const name = last.replace(/\[1m\]$/, "").replace(/^(?:[a-z-]+\.)*(?=claude-)/, "");
  if (!name.startsWith("claude-")) return { name, isMillion };
  const dashed = name.replace(/(\d)\.(\d)/, "$1-$2");
  return { name: dashed.replace(/^claude-([4-9](?:-\d)?)-([a-z]+)/, "claude-$2-$1"), isMillion };
}
