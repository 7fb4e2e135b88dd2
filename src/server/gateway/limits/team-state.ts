import type { Team } from "../../../kernel/faces/people.ts";

/** A gateway that is open learns of the first person within this time. */
const CHECK_MS = 1_000;

/** Whether the store has people or budgets. Once it has, the gateway stays closed to others until it is restarted. */
export class TeamState {
  readonly #team: Pick<Team, "isInUse">;
  /** True if the store is known to have people or budgets. */
  isKnownInUse = false;
  #checked: Promise<boolean> | undefined;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(team: Pick<Team, "isInUse">) {
    this.#team = team;
  }

  /** The last known state if the store fails. */
  async isInUse(): Promise<boolean> {
    if (this.isKnownInUse) return true;
    const now = performance.now();
    if (!this.#checked || now - this.#checkedMs > CHECK_MS) {
      this.#checkedMs = now;
      this.#checked = this.#check();
    }
    // Somebody may have been recognized since the last check.
    return (await this.#checked) || this.isKnownInUse;
  }

  /** Called when a person was recognized, so that the state is certain before its next check. */
  markInUse(): void {
    this.isKnownInUse = true;
  }

  async #check(): Promise<boolean> {
    try {
      this.isKnownInUse ||= await this.#team.isInUse();
    } catch {
      // Requests of people are refused until the store answers; without people it is not needed.
    }
    return this.isKnownInUse;
  }
}
