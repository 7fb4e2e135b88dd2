import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Markdown } from "../../components/markdown.tsx";
import type { BlobPart, Entry, Message, Part } from "../../session/session-types.ts";
import { conversationText as text } from "./conversation-text.ts";
import { BlobView } from "./image-view.tsx";
import { LongText } from "./long-text.tsx";
import { type FoundResult, getCallId } from "./rows.ts";
import { ToolCall, ToolResult } from "./tool-call.tsx";

interface PartsProps {
  /** The entry of the parts; absent for a draft or a summary. */
  readonly entry?: Pick<Entry, "id" | "session"> | undefined;
  readonly message: Message;
  readonly results?: ReadonlyMap<string, FoundResult>;
}

const NO_RESULTS: ReadonlyMap<string, FoundResult> = new Map();

/** The parts of a message. Content that is too large for the log is loaded when the reader asks. */
export function MessageParts({ entry, message, results = NO_RESULTS }: PartsProps) {
  const [whole, setWhole] = useState<Message>();
  const load = entry
    ? () =>
        void call("GET /sessions/{session}/entries/{entry}", {
          params: { session: entry.session, entry: entry.id },
        }).then((full) => {
          if (full.kind === "message") setWhole(full.message);
        })
    : undefined;
  const { parts } = whole ?? message;
  if (parts.length === 0) return <p class="dim">{text("emptyMessage")}</p>;
  return (
    <>
      {parts.map((part, index) => (
        <PartView
          key={index}
          entry={entry}
          part={part}
          result={results.get(getCallId(part) ?? "")}
          onWhole={load}
        />
      ))}
    </>
  );
}

interface PartProps {
  readonly entry: PartsProps["entry"];
  readonly part: Part;
  readonly result: FoundResult | undefined;
  readonly onWhole: (() => void) | undefined;
}

function PartView({ entry, part, result, onWhole }: PartProps) {
  switch (part.type) {
    case "text":
      return <LongText content={part.text} isMarkdown />;
    case "reasoning":
      return <Reasoning content={part.text} />;
    case "tool-call":
      return <ToolCall name={part.name} input={part.input} result={result} />;
    case "tool-result":
      return entry ? <ToolResult found={{ part, entry }} /> : null;
    case "blob":
      return <LargePart entry={entry} part={part} result={result} onWhole={onWhole} />;
    case "raw":
      return <RawValue format={part.format} value={part.value} />;
  }
}

function Reasoning({ content }: { readonly content: string }) {
  if (content.trim() === "") return <p class="dim">{text("hiddenReasoning")}</p>;
  return (
    <details class="fold reasoning">
      <summary>{text("reasoning")}</summary>
      <Markdown text={content} />
    </details>
  );
}

/** A file, or content too large for the log, of which the log has the beginning. */
function LargePart({ entry, part, result, onWhole }: Omit<PartProps, "part"> & { readonly part: BlobPart }) {
  if (part.of === undefined) return entry ? <BlobView entry={entry} part={part} /> : null;
  const preview = part.preview ?? "";
  const hidden = Math.max(0, part.sizeBytes - preview.length);
  const more = { hidden, ...(onWhole && { onWhole }) };
  if (part.of === "text") return <LongText content={preview} isMarkdown {...more} />;
  if (part.of === "reasoning") return <Reasoning content={preview} />;
  if (part.of === "tool-call")
    return <ToolCall name={part.toolName ?? text("toolCall")} input={preview} result={result} {...more} />;
  return <LongText content={preview} {...more} />;
}

/** A value of a format that the dashboard does not know, shown unchanged. */
export function RawValue({ format, value }: { readonly format: string; readonly value: unknown }) {
  return (
    <details class="fold">
      <summary>{text("rawValue", { format })}</summary>
      <pre class="plain-text">{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}
