import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { formatCount } from "../../format/number.ts";
import { findDiffs, type InputDiff } from "../../session/diff.ts";
import { DiffView } from "../../session/diff-view.tsx";
import type { ResultPart } from "../../session/session-types.ts";
import { conversationText as text } from "./conversation-text.ts";
import { BlobView } from "./image-view.tsx";
import { LongText } from "./long-text.tsx";

/** A result and the entry that has it. */
interface ResultPlace {
  readonly part: ResultPart;
  readonly entry: { readonly id: string; readonly session: string };
}

interface ToolCallProps {
  readonly name: string;
  readonly input: unknown;
  readonly result: ResultPlace | undefined;
  readonly hidden?: number;
  readonly onWhole?: () => void;
}

/** Characters of the input that the folded line shows. */
const MAX_GIST = 140;

/** A tool call, folded with its result. Diffs are open: they are what the reader came for. */
export function ToolCall({ name, input, result, hidden = 0, onWhole }: ToolCallProps) {
  const diffs = findDiffs(input);
  const state = result === undefined ? text("noResult") : result.part.isError ? text("failed") : undefined;
  return (
    <Fold
      isOpen={diffs.length > 0 && countLines(diffs) < 60}
      summary={
        <>
          <b>{name}</b> <span class="gist">{describeInput(input)}</span>
          {state && <span class={result ? "bad state" : "dim state"}>{state}</span>}
        </>
      }
    >
      {() => (
        <>
          {diffs.map(({ file, lines }, index) => (
            <DiffView key={index} file={file} lines={lines} />
          ))}
          {diffs.length === 0 && (
            <LongText content={toText(input)} hidden={hidden} {...(onWhole && { onWhole })} />
          )}
          {result && <ResultContent {...result} />}
        </>
      )}
    </Fold>
  );
}

/** A result whose call is not among the entries that are loaded. */
export function ToolResult({ found }: { readonly found: ResultPlace }) {
  const { part } = found;
  return (
    <Fold
      summary={
        <>
          <b>{part.name ?? text("toolResult")}</b> <span class="gist">{describeOutput(part)}</span>
          {part.isError && <span class="bad state">{text("failed")}</span>}
        </>
      }
    >
      {() => <ResultContent {...found} />}
    </Fold>
  );
}

/** A line that opens; its content exists only while it is open. */
function Fold({
  summary,
  isOpen = false,
  children,
}: {
  readonly summary: ComponentChildren;
  readonly isOpen?: boolean;
  readonly children: () => ComponentChildren;
}) {
  const [open, setOpen] = useState(isOpen);
  return (
    <details class="fold tool" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children()}
    </details>
  );
}

function ResultContent({ part, entry }: ResultPlace) {
  const [whole, setWhole] = useState<ResultPart>();
  const load = () =>
    void call("GET /sessions/{session}/entries/{entry}", {
      params: { session: entry.session, entry: entry.id },
    }).then((full) => {
      if (full.kind !== "message") return;
      const found = full.message.parts.find(
        (one) => one.type === "tool-result" && one.callId === part.callId,
      );
      if (found?.type === "tool-result") setWhole(found);
    });
  const { output, isError } = whole ?? part;
  return (
    <div class={isError ? "result failed" : "result"}>
      {output.length === 0 && <p class="dim">{text("emptyResult")}</p>}
      {output.map((one, index) => {
        const key = index;
        if (one.type === "text") return <LongText key={key} content={one.text} />;
        if (one.type === "raw") return <LongText key={key} content={toText(one.value)} />;
        if (one.of === undefined) return <BlobView key={key} entry={entry} part={one} />;
        const preview = one.preview ?? "";
        const hidden = Math.max(0, one.sizeBytes - preview.length);
        return <LongText key={key} content={preview} hidden={hidden} onWhole={load} />;
      })}
    </div>
  );
}

function countLines(diffs: readonly InputDiff[]): number {
  return diffs.reduce((sum, { lines }) => sum + lines.length, 0);
}

function describeInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return toGist(toText(input));
  const values = Object.values(input).filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return toGist(values.length > 0 ? values.join(" · ") : JSON.stringify(input));
}

function describeOutput({ output }: ResultPart): string {
  const [first] = output;
  if (first?.type === "text") return toGist(first.text);
  if (first?.type === "blob") return toGist(first.preview ?? first.mime);
  return text("outputParts", { count: formatCount(output.length) });
}

function toGist(content: string): string {
  return content
    .slice(0, 2 * MAX_GIST)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_GIST);
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
