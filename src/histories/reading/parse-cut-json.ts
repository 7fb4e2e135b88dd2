import { parseJson } from "../../model/base/parse-json.ts";

/**
 * Parses a JSON text that may be cut short: an open string ends with the text, and open brackets are closed. Returns
 * undefined if even the result is not JSON.
 */
export function parseCutJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return parseClosed(text);
  }
}

/** Open brackets at the end of the text, and the last position without an incomplete token. */
interface OpenBrackets {
  readonly closers: string;
  readonly inString: boolean;
  readonly safeEnd: number;
  readonly safeClosers: string;
}

function parseClosed(text: string): unknown {
  const { closers, inString, safeEnd, safeClosers } = findOpenBrackets(text);
  const withoutHalfEscape = text.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "");
  const tries = [
    inString ? `${withoutHalfEscape}"${closers}` : `${text}${closers}`,
    `${text.slice(0, safeEnd)}${safeClosers}`,
  ];
  for (const candidate of tries) {
    try {
      return parseJson(candidate);
    } catch {
      // The next candidate leaves out more.
    }
  }
  return undefined;
}

function findOpenBrackets(text: string): OpenBrackets {
  const open: string[] = [];
  let inString = false;
  let safeEnd = 0;
  /** Brackets closed after the safe position. */
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
