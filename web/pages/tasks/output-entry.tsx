import type { ComponentChildren } from "preact";
import { type Entry, readEntryText, toShortJson } from "../../format/entry-text.ts";
import { formatCount } from "../../format/number.ts";
import { formatClock } from "../../format/time.ts";
import { tasksText as text } from "./tasks-text.ts";

type Message = Extract<Entry, { kind: "message" }>["message"];
type Note = Extract<Entry, { kind: "task" }>["note"];

/** One entry of a task's output: words in full, everything else in a line. */
export function OutputEntry({ entry }: { readonly entry: Entry }) {
  const body = describeEntry(entry);
  if (body === undefined) return null;
  return (
    <div class="output-entry">
      <time class="number dim" dateTime={new Date(entry.at).toISOString()}>
        {formatClock(entry.at)}
      </time>
      <div>{body}</div>
    </div>
  );
}

function describeEntry(entry: Entry): ComponentChildren {
  switch (entry.kind) {
    case "message":
      return <OutputMessage message={entry.message} />;
    case "notice":
      return <p>{entry.text}</p>;
    case "usage": {
      const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = entry.usage;
      const read = formatCount(inputTokens + cacheReadTokens + cacheWriteTokens);
      return <p class="dim number">{text("usage", { read, written: formatCount(outputTokens) })}</p>;
    }
    case "task":
      return describeNote(entry.note);
    case "damaged":
      return <p class="bad">{entry.problem}</p>;
    default:
      return undefined;
  }
}

/** States and notices have their own places on the page. */
function describeNote(note: Note): ComponentChildren {
  const value = note as Readonly<Record<string, unknown>>;
  switch (note.type) {
    case "output":
      return <pre class={value.stream === "stderr" ? "bad" : ""}>{String(value.text)}</pre>;
    case "summary":
      return <p>{String(value.text)}</p>;
    case "call":
      return (
        <FoldedLine
          head={`${String(value.name)} ${toShortJson(value.arguments)}`}
          body={toShortJson(value.result)}
        />
      );
    case "loop":
      return <p class="warm">{text("loop", { call: String(value.call), count: Number(value.repeats) })}</p>;
    case "result":
    case "checkpoint":
      return <FoldedLine head={text(note.type)} body={JSON.stringify(value.value, null, 2)} />;
    default:
      return undefined;
  }
}

function OutputMessage({ message: { role, parts, interrupted } }: { readonly message: Message }) {
  return (
    <>
      {parts.map((part, index) => {
        const key = `${index}`;
        if (part.type === "text")
          return (
            <p key={key} class="said">
              {role !== "assistant" && <span class="dim">{role} </span>}
              {part.text}
            </p>
          );
        if (part.type === "tool-call")
          return <FoldedLine key={key} head={part.name} body={toShortJson(part.input)} />;
        const body = readEntryText({ kind: "message", message: { role, parts: [part] } } as Entry);
        return <FoldedLine key={key} head={part.type} body={body} />;
      })}
      {interrupted && <p class="warm">{text("interrupted")}</p>}
    </>
  );
}

function FoldedLine({ head, body }: { readonly head: string; readonly body: string }) {
  return (
    <details>
      <summary class="dim">{head}</summary>
      <pre>{body}</pre>
    </details>
  );
}
