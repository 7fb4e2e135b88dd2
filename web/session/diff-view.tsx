import { useState } from "preact/hooks";
import { formatCount } from "../format/number.ts";
import type { DiffLine } from "./diff.ts";
import { sessionText as text } from "./session-text.ts";

/** Longer diffs show their beginning until the reader asks for the rest. */
const SHOWN_LINES = 200;
const SIGNS = { same: " ", added: "+", removed: "−", head: "" } as const;

/** A diff with its lines marked. */
export function DiffView({
  file,
  lines,
}: {
  readonly file?: string | undefined;
  readonly lines: readonly DiffLine[];
}) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, SHOWN_LINES);
  const count = (type: DiffLine["type"]) => lines.filter((line) => line.type === type).length;
  return (
    <figure class="diff">
      <figcaption>
        <code>{file ?? text("diff")}</code>
        <span class="number">
          <span class="good">+{formatCount(count("added"))}</span>{" "}
          <span class="bad">−{formatCount(count("removed"))}</span>
        </span>
      </figcaption>
      <pre>
        {shown.map((line, index) => (
          <div key={index} class={`diff-${line.type}`}>
            <span class="diff-sign">{SIGNS[line.type]}</span>
            {line.text || " "}
          </div>
        ))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {text("showLines", { count: formatCount(lines.length - shown.length) })}
        </button>
      )}
    </figure>
  );
}
