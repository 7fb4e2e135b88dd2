/** Tags that successive SDK versions have treated as program notices inside user input. */
const NOTICES = [[], ["mode_notice"], ["mode_notice", "environment_notice"]];

/** Number of historical ways to display user input. */
export const INPUT_VERSIONS = NOTICES.length;

/** Displays user input as the SDK does, without its own tags and notices; `way` selects the SDK version's behavior. */
export function toShownInput(text: string, way: number): string {
  if (text.trim() === "") return "";
  const words = (NOTICES[way] ?? []).reduce(removeElements, unwrapOwnTags(text)).trim();
  const slash = findSlashCommand(text);
  if (slash === undefined) return words;
  const prefix = "spawn a team of agents for the following task:";
  const isTeam = slash.toLowerCase() === "team" && words.toLowerCase().startsWith(prefix);
  const rest = isTeam ? words.slice(prefix.length).trim() : words;
  const name = slash.toLowerCase() === "team" ? "team" : slash;
  return rest === "" ? `/${name}` : `/${name} ${rest}`;
}

/** Removes the tags around input and keeps their content. */
function unwrapOwnTags(text: string): string {
  return ["user_input", "user_command"].reduce((left, tag) => {
    const unwrapped = left.replace(new RegExp(`<${tag}\\b[^>]*>([\\s\\S]*?)</${tag}>`, "g"), "$1");
    return (unwrapped === left ? left.replace(new RegExp(`<${tag}[^>]*>`, "g"), "") : unwrapped).trim();
  }, text.trim());
}

/** Removes elements including their content. */
function removeElements(text: string, tag: string): string {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  let left = text;
  for (let from = left.indexOf(open); from >= 0; from = left.indexOf(open, from)) {
    const end = left.indexOf(close, from + open.length);
    if (end < 0) break;
    left = left.slice(0, from) + left.slice(end + close.length);
  }
  return left;
}

function findSlashCommand(text: string): string | undefined {
  const attributes = /^<user_command\b([^>]*)>[\s\S]*?<\/user_command>$/i.exec(text.trim())?.[1];
  return attributes === undefined ? undefined : /slash="([^"]+)"/i.exec(attributes)?.[1]?.trim() || undefined;
}
