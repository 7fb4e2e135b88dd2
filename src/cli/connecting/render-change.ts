import { maskSecrets } from "../../model/secrets/mask-secrets.ts";
import { escapeText } from "../terminal/escape.ts";
import type { Look, Paint } from "../terminal/paint.ts";
import { type DiffLine, diffText } from "./text-diff.ts";

const LOOKS: Readonly<Record<DiffLine["mark"], Look | undefined>> = {
  " ": undefined,
  "+": "green",
  "-": "red",
  "@": "cyan",
};

/** The change of a file as lines; secrets near a change are masked. */
export function renderChange(before: string, after: string, paint: Paint): readonly string[] {
  return diffText(maskSecrets(before), maskSecrets(after)).map(({ mark, text }) => {
    const line = mark === "@" ? `@ ${text}` : `${mark} ${escapeText(text)}`;
    const look = LOOKS[mark];
    return `    ${look === undefined ? line : paint(look, line)}`.trimEnd();
  });
}

/** Shortens a path below the home folder. */
export function shortenHome(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
