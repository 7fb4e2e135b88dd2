import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { showToast } from "../../components/toasts.tsx";
import { readFieldTime, toFieldValue } from "./describe-validity.ts";
import { memoryText as text } from "./memory-text.ts";
import type { Memory } from "./trust-pill.tsx";

interface MemoryFormProps {
  /** The memory to change; a new one is added without it. */
  readonly memory?: Memory;
  readonly agent: string | undefined;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Adds a memory, or changes its text and its dates. */
export function MemoryForm({ memory, agent, onSaved, onClose }: MemoryFormProps) {
  const [failure, setFailure] = useState<ApiFailure>();
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const values = {
      text: fields.get("text")?.toString().trim() ?? "",
      from: readFieldTime(fields.get("from")),
      until: readFieldTime(fields.get("until")),
    };
    try {
      await (memory ? saveChange(memory, values) : addMemory(agent, values));
      showToast(text("saved"));
      onSaved();
      onClose();
    } catch (error) {
      setFailure(toFailure(error));
    }
  };
  return (
    <Dialog
      title={text(memory ? "editTitle" : "addTitle")}
      onClose={onClose}
      actions={
        <button type="submit" form="memory-form" class="primary">
          {text("save")}
        </button>
      }
    >
      <form id="memory-form" class="memory-form" onSubmit={save}>
        <label>
          {text("text")}
          <textarea name="text" rows={5} required maxLength={10_000} defaultValue={memory?.text} autofocus />
        </label>
        <div class="memory-dates">
          <label>
            {text("from")}
            <input type="datetime-local" name="from" defaultValue={toFieldValue(memory?.from)} />
          </label>
          <label>
            {text("until")}
            <input type="datetime-local" name="until" defaultValue={toFieldValue(memory?.until)} />
          </label>
        </div>
        <p class="dim">{text(memory ? "editHint" : "addHint")}</p>
      </form>
      {failure && <ErrorState failure={failure} />}
    </Dialog>
  );
}

interface Values {
  readonly text: string;
  readonly from: number | null;
  readonly until: number | null;
}

function addMemory(agent: string | undefined, { text: words, from, until }: Values) {
  const dates = { ...(from !== null && { from }), ...(until !== null && { until }) };
  return call("POST /memories", {
    body: { text: words, ...dates, ...(agent !== undefined && { agent }) },
  });
}

/** Sends only what differs: another text makes a new memory of the person. The minutes of a date may be rounded. */
function saveChange(memory: Memory, { text: words, from, until }: Values) {
  const isSame = (value: number | null, before: number | undefined) =>
    toFieldValue(value ?? undefined) === toFieldValue(before);
  return call("PATCH /memories/{memory}", {
    params: { memory: memory.id },
    body: {
      ...(words !== memory.text && { text: words }),
      ...(!isSame(from, memory.from) && { from }),
      ...(!isSame(until, memory.until) && { until }),
    },
  });
}
