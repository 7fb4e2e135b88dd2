import { parseJson } from "./parse-json.ts";

/**
 * The value of a JSON text that may be cut short, as far as it goes: strings end where the text does, and what is open is
 * closed. Undefined if even that is not JSON.
 */
export function parseCutJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return parseClosed(text);
  }
}

/** Where the text is open, and the last place where nothing was half said. */
interface Opening {
  readonly closers: string;
  readonly inString: boolean;
  readonly safeEnd: number;
  readonly safeClosers: string;
}

function parseClosed(text: string): unknown {
  const { closers, inString, safeEnd, safeClosers } = openingOf(text);
  const withoutHalfEscape = text.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "");
  const tries = [
    inString ? `${withoutHalfEscape}"${closers}` : `${text}${closers}`,
    `${text.slice(0, safeEnd)}${safeClosers}`,
  ];
  for (const candidate of tries) {
    try {
      return parseJson(candidate);
    } catch {
      // The next one leaves more out.
    }
  }
  return undefined;
}

function openingOf(text: string): Opening {
  const open: string[] = [];
  let inString = false;
  let safeEnd = 0;
  /** What was closed behind the safe place. */
  let closed = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "[" || character === "{") {
      open.push(character === "[" ? "]" : "}");
      [safeEnd, closed] = [at + 1, ""];
    } else if (character === "]" || character === "}") closed += open.pop() ?? "";
    else if (character === ",") [safeEnd, closed] = [at, ""];
  }
  const closers = open.reverse().join("");
  return { closers, inString, safeEnd, safeClosers: closed + closers };
}
