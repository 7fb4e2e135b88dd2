import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorState } from "../../components/error-state.tsx";
import { peopleText as text } from "./people-text.ts";
import type { Person } from "./person-card.tsx";

const UNITS = ["usd", "tokens", "requests"] as const;
const PERIODS = ["minute", "day", "week", "month", "total"] as const;

/** A budget in the form; without an id it is new. */
interface BudgetRow {
  readonly key: number;
  readonly id?: string;
  readonly amount: string;
  readonly unit: (typeof UNITS)[number];
  readonly period: (typeof PERIODS)[number];
  readonly model: string;
  readonly project: string;
}

interface EditPersonProps {
  readonly person: Person;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Changes the role, models, upstreams, budgets and limits of a person. */
export function EditPersonDialog({ person, onSaved, onClose }: EditPersonProps) {
  const { name } = person;
  const [failure, setFailure] = useState<ApiFailure>();
  const [rows, setRows] = useState<readonly BudgetRow[]>(() => person.budgets.map(toRow));
  const change = (key: number, values: Partial<BudgetRow>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...values } : row)));
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const list = (field: string) => {
      const names = (fields.get(field)?.toString() ?? "")
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean);
      return names.length > 0 ? names : null;
    };
    try {
      await call("PATCH /people/{person}", {
        params: { person: name },
        body: {
          role: fields.get("role") === "admin" ? "admin" : "member",
          models: list("models"),
          upstreams: list("upstreams"),
        },
      });
      await saveBudgets(person, rows);
      onSaved();
    } catch (error) {
      setFailure(toFailure(error));
    }
  };
  return (
    <Dialog
      title={text("editNamed", { name })}
      onClose={onClose}
      actions={
        <button type="submit" form="edit-person" class="primary">
          {text("saveChanges")}
        </button>
      }
    >
      <form id="edit-person" class="person-form" onSubmit={save}>
        <label>
          {text("role")}
          <select name="role" defaultValue={person.role}>
            <option value="member">{text("member")}</option>
            <option value="admin">{text("admin")}</option>
          </select>
        </label>
        <label>
          {text("models")}
          <input name="models" defaultValue={person.models?.join(", ") ?? ""} />
        </label>
        <p class="dim">{text("modelsHint")}</p>
        <label>
          {text("upstreams")}
          <input name="upstreams" defaultValue={person.upstreams?.join(", ") ?? ""} />
        </label>
        <fieldset class="budget-rows">
          <legend>{text("budgets")}</legend>
          {rows.map((row) => (
            <BudgetFields
              key={row.key}
              row={row}
              onChange={(values) => change(row.key, values)}
              onRemove={() => setRows(rows.filter(({ key }) => key !== row.key))}
            />
          ))}
          <button type="button" onClick={() => setRows([...rows, createRow(rows)])}>
            {text("addBudget")}
          </button>
        </fieldset>
      </form>
      {failure && <ErrorState failure={failure} />}
    </Dialog>
  );
}

/** One budget; the scope of a known one stays, because its count belongs to it. */
function BudgetFields({
  row,
  onChange,
  onRemove,
}: {
  readonly row: BudgetRow;
  readonly onChange: (values: Partial<BudgetRow>) => void;
  readonly onRemove: () => void;
}) {
  const isKnown = row.id !== undefined;
  return (
    <div class="budget-row">
      <input
        type="number"
        min={0}
        step="any"
        required
        aria-label={text("amount")}
        value={row.amount}
        onInput={(event) => onChange({ amount: event.currentTarget.value })}
      />
      <select
        aria-label={text("unit")}
        disabled={isKnown}
        value={row.unit}
        onChange={(event) => onChange({ unit: event.currentTarget.value as BudgetRow["unit"] })}
      >
        {UNITS.map((unit) => (
          <option key={unit} value={unit}>
            {text(`unit_${unit}`)}
          </option>
        ))}
      </select>
      <select
        aria-label={text("period")}
        disabled={isKnown}
        value={row.period}
        onChange={(event) => onChange({ period: event.currentTarget.value as BudgetRow["period"] })}
      >
        {PERIODS.map((period) => (
          <option key={period} value={period}>
            {text(period)}
          </option>
        ))}
      </select>
      <input
        aria-label={text("onlyModel")}
        placeholder={text("onlyModel")}
        disabled={isKnown}
        value={row.model}
        onInput={(event) => onChange({ model: event.currentTarget.value })}
      />
      <button type="button" class="quiet" onClick={onRemove}>
        {text("removeBudget")}
      </button>
    </div>
  );
}

function toRow(budget: Person["budgets"][number], key: number): BudgetRow {
  const { id, amount, unit, period, model, project } = budget;
  return { key, id, amount: String(amount), unit, period, model: model ?? "", project: project ?? "" };
}

function createRow(rows: readonly BudgetRow[]): BudgetRow {
  const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
  return { key, amount: "", unit: "usd", period: "month", model: "", project: "" };
}

/** Removes the budgets that left the form, and sets those that are new or have another amount. */
async function saveBudgets({ name, budgets }: Person, rows: readonly BudgetRow[]): Promise<void> {
  for (const { id } of budgets)
    if (!rows.some((row) => row.id === id))
      await call("DELETE /budgets/{budget}", { params: { budget: id } });
  for (const { id, amount, unit, period, model, project } of rows) {
    const known = budgets.find((budget) => budget.id === id);
    if (known && known.amount === Number(amount)) continue;
    await call("POST /budgets", {
      body: {
        person: name,
        amount: Number(amount),
        unit,
        period,
        ...(model.trim() && { model: model.trim() }),
        ...(project && { project }),
      },
    });
  }
}
