import type { AuditEntry } from "../../model/audit.ts";
import type { TeamBudget } from "../../model/budget.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Person, PersonToken } from "../../model/person.ts";
import type { BudgetUse } from "./budget-store.ts";
import type { Lease } from "./lease-store.ts";
import type { TaskRecord } from "./task-store.ts";

/** A foreign source as it is moved to another store. */
export interface MovedIntake {
  readonly name: string;
  readonly session: SessionId;
  readonly stamp: number;
  readonly checkpoint?: string;
  readonly progress?: string;
}

/** An imported record as it is moved to another store. */
export interface MovedRecord {
  readonly id: string;
  readonly seq: number;
  readonly version?: string;
}

/** The people of a store, with budgets and audit log, as they are moved to another store. */
export interface MovedTeam {
  readonly people: readonly Person[];
  readonly tokens: readonly PersonToken[];
  readonly budgets: readonly TeamBudget[];
  readonly uses: readonly BudgetUse[];
  /** Audit entries that the target does not have yet. */
  readonly audit: readonly AuditEntry[];
}

/** The parts of a store that appends create and that a move to another store copies as they are. */
export interface TransferStore {
  /** All foreign sources by name; `after` is the last name of the previous page. */
  intakes(query: { readonly after?: string; readonly limit: number }): Promise<readonly MovedIntake[]>;
  /** The imported records of a source by id. */
  records(
    name: string,
    query: { readonly after?: string; readonly limit: number },
  ): Promise<readonly MovedRecord[]>;
  /** Adds or replaces records of a source, which is created for its session with stamp 0 if needed. */
  putRecords(intake: MovedIntake, records: readonly MovedRecord[]): Promise<void>;
  /** Sets stamp, checkpoint and progress of a source. */
  putIntake(intake: MovedIntake): Promise<void>;
  /** Adds or replaces a task; throws SESSION_NOT_FOUND if its session does not exist. */
  putTask(task: TaskRecord): Promise<void>;
  /** The keys of the store: leases that never end. */
  keys(): Promise<readonly Lease[]>;
  /** Adds or replaces a key. */
  putKey(key: Lease): Promise<void>;
  /** The team, with the audit log after a seq. */
  team(afterAudit: number): Promise<MovedTeam>;
  /** Replaces all people, tokens, budgets and counts, and adds entries of the audit log. */
  putTeam(team: MovedTeam): Promise<void>;
}
