import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { peopleText as text } from "./people-text.ts";

/** A token that is shown once. */
export interface ShownToken {
  readonly name: string;
  readonly token: string;
}

interface PersonFormProps {
  /** True for the first person, who should be an admin. */
  readonly isFirst: boolean;
  readonly onAdded: (token: ShownToken) => void;
  readonly onClose: () => void;
}

/** Adds a person. */
export function PersonForm({ isFirst, onAdded, onClose }: PersonFormProps) {
  const [failure, setFailure] = useState<ApiFailure>();
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const name = fields.get("name")?.toString().trim() ?? "";
    const amount = Number(fields.get("monthly")?.toString() || Number.NaN);
    const day = fields.get("expires")?.toString();
    try {
      const { token } = await call("POST /people", {
        body: {
          name,
          role: fields.get("role") === "admin" ? "admin" : "member",
          ...(day && { expiresAt: Date.parse(`${day}T00:00`) }),
          budgets: Number.isFinite(amount) ? [{ amount, unit: "usd", period: "month" }] : [],
        },
      });
      onAdded({ name, token });
    } catch (error) {
      setFailure(toFailure(error));
    }
  };
  return (
    <Dialog
      title={text("addTitle")}
      onClose={onClose}
      actions={
        <button type="submit" form="person-form" class="primary">
          {text("save")}
        </button>
      }
    >
      <form id="person-form" class="person-form" onSubmit={save}>
        <label>
          {text("name")}
          <input name="name" required maxLength={64} autofocus />
        </label>
        <label>
          {text("role")}
          <select name="role" defaultValue={isFirst ? "admin" : "member"}>
            <option value="member">{text("member")}</option>
            <option value="admin">{text("admin")}</option>
          </select>
        </label>
        <p class="dim">{text("roleHint")}</p>
        <label>
          {text("monthly")}
          <input name="monthly" type="number" min={0} step="any" />
        </label>
        <p class="dim">{text("monthlyHint")}</p>
        <label>
          {text("expires")}
          <input name="expires" type="date" />
        </label>
      </form>
      {failure && <ErrorState failure={failure} />}
    </Dialog>
  );
}
