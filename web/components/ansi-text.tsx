import type { ComponentChildren } from "preact";

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals mark colours with this character
const SEQUENCE = /\u001b\[([0-9;]*)([A-Za-z])|\u001b\][^\u0007]*\u0007/g;

/** True for text with colours or cursor movements of a terminal. */
export function hasAnsi(text: string): boolean {
  return text.includes("\u001b[") || text.includes("\u001b]");
}

interface Look {
  readonly color: number | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const PLAIN: Look = { color: undefined, isBold: false, isDim: false };

/** Output of a terminal: its colours as colours of the page, its cursor movements left out. */
export function AnsiText({ text }: { readonly text: string }) {
  const pieces: ComponentChildren[] = [];
  let look = PLAIN;
  let at = 0;
  const add = (piece: string) => {
    if (piece === "") return;
    const name = [
      look.color !== undefined && `ansi-${look.color}`,
      look.isBold && "ansi-bold",
      look.isDim && "dim",
    ]
      .filter(Boolean)
      .join(" ");
    pieces.push(name === "" ? piece : <span class={name}>{piece}</span>);
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") look = applyCodes(look, (match[1] ?? "").split(";").map(Number));
  }
  add(text.slice(at));
  return <>{pieces}</>;
}

/** Applies the codes of one sequence; colours of a palette or of three numbers are left out. */
function applyCodes(before: Look, codes: readonly number[]): Look {
  let look = before;
  for (const [index, code] of codes.entries()) {
    if (code === 0) look = PLAIN;
    else if (code === 1) look = { ...look, isBold: true };
    else if (code === 2) look = { ...look, isDim: true };
    else if (code === 22) look = { ...look, isBold: false, isDim: false };
    else if (code === 39) look = { ...look, color: undefined };
    else if (code === 38 || code === 48) {
      const kind = codes[index + 1];
      const value = codes[index + 2] ?? 0;
      if (code === 38 && kind === 5) look = { ...look, color: value < 16 ? value % 8 : undefined };
      return look;
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) look = { ...look, color: code % 10 };
  }
  return look;
}
