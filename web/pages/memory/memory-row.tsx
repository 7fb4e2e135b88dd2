import { call } from "../../api/client.ts";
import { Markdown } from "../../components/markdown.tsx";
import { formatAgo, formatTime } from "../../format/time.ts";
import { linkToSession } from "../../shell/links.ts";
import { describeValidity } from "./describe-validity.ts";
import { memoryText as text } from "./memory-text.ts";
import { type Memory, TrustPill } from "./trust-pill.tsx";

interface MemoryRowProps {
  readonly memory: Memory;
  readonly above: string | undefined;
  readonly below: string | undefined;
  readonly isChosen: boolean;
  /** True if the memories after it are no longer in every window. */
  readonly isLastPin: boolean;
  readonly onChange: (work: Promise<unknown>, done: string) => void;
  readonly onEdit: () => void;
  readonly onForget: () => void;
}

/** One memory with its place, trust and dates, and the ways to change it. */
export function MemoryRow(props: MemoryRowProps) {
  const { memory, above, below, isChosen, isLastPin, onChange, onEdit, onForget } = props;
  const { id } = memory;
  const move = (body: { above?: string; below?: string }) =>
    onChange(call("POST /memories/{memory}/move", { params: { memory: id }, body }), text("moved"));
  const judge = (decision: "accepted" | "rejected") =>
    onChange(
      call("POST /memories/{memory}/review", { params: { memory: id }, body: { decision } }),
      text(decision),
    );
  const validity = describeValidity(memory);
  return (
    <li id={id} class={`memory ${isChosen ? "is-chosen" : ""} ${isLastPin ? "is-last-pin" : ""}`}>
      <div class="memory-order">
        <button
          type="button"
          class="quiet"
          disabled={above === undefined}
          aria-label={text("moveUp")}
          title={text("moveUp")}
          onClick={() => above !== undefined && move({ above })}
        >
          ↑
        </button>
        <button
          type="button"
          class="quiet"
          disabled={below === undefined}
          aria-label={text("moveDown")}
          title={text("moveDown")}
          onClick={() => below !== undefined && move({ below })}
        >
          ↓
        </button>
      </div>
      <div class="memory-body">
        <Markdown text={memory.text} />
        <p class="memory-facts dim">
          <TrustPill memory={memory} />
          {memory.isPinned && <span class="pill">{text("pinned")}</span>}
          <time dateTime={new Date(memory.at).toISOString()} title={formatTime(memory.at)}>
            {formatAgo(memory.at)}
          </time>
          {validity && <span class={validity.isNow ? "" : "warm"}>{validity.words}</span>}
          {memory.source && <a href={linkToSession(memory.source)}>{text("source")}</a>}
        </p>
      </div>
      <div class="memory-actions">
        {memory.trust !== "user" && (
          <button type="button" class="quiet" onClick={() => judge("accepted")}>
            {text("accept")}
          </button>
        )}
        {memory.trust !== "rejected" && memory.by !== "user" && (
          <button type="button" class="quiet" onClick={() => judge("rejected")}>
            {text("reject")}
          </button>
        )}
        {above !== undefined && (
          <button type="button" class="quiet" onClick={() => move({})}>
            {text("toTop")}
          </button>
        )}
        <button type="button" class="quiet" onClick={onEdit}>
          {text("edit")}
        </button>
        <button type="button" class="quiet" onClick={onForget}>
          {text("forget")}
        </button>
      </div>
    </li>
  );
}
