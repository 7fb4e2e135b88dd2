import { randomBytes } from "node:crypto";
import { computeAuditDigest } from "../../log/store/audit-store.ts";
import type { RemovedPerson } from "../../log/store/people-store.ts";
import type { Store } from "../../log/store/store.ts";
import { checkFields, checkKind, checkTexts } from "../../model/argument-checks.ts";
import type { AuditAct, AuditEntry } from "../../model/audit.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { BUDGET_PERIODS, BUDGET_UNITS, type BudgetRule, type TeamBudget } from "../../model/budget.ts";
import type { Clock } from "../../model/clock.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "../../model/errors.ts";
import {
  PERSON_ROLES,
  type Person,
  type PersonRole,
  type PersonToken,
  type ProviderSignIn,
} from "../../model/person.ts";
import { buildPersonId, LOCAL_PERSON } from "../../model/session-key.ts";
import { BudgetGate, type BudgetStatus, toBudgetStatus } from "./budget-gate.ts";
import { getPeriodStart } from "./budget-period.ts";
import { formatBudget } from "./budget-text.ts";

/** The settings of a person that can change. */
export interface PersonSettings {
  readonly role?: PersonRole;
  /** Names or prefixes that end in "*"; null allows all. */
  readonly models?: readonly string[] | null;
  readonly upstreams?: readonly string[] | null;
}

/** The owner of a secret, and whether it may still be used. */
export interface TokenOwner {
  readonly person: Person;
  readonly token: PersonToken;
  readonly state: "valid" | "expired" | "revoked";
}

/** No space at the end or next to another one: nobody would see that two names differ. */
const NAME = /^[\p{L}\p{N}](?: ?[\p{L}\p{N}._@+-]){0,63}$/u;
const MAX_NAME = 64;
const PAGE = 1_000;

/** People with tokens, budgets and roles, and the log of administrative acts. Every change names who made it. */
export class Team {
  readonly #store: Pick<Store, "people" | "budgets" | "audit">;
  readonly #clock: Clock;
  readonly #assertOpen: () => void;

  constructor(store: Pick<Store, "people" | "budgets" | "audit">, clock: Clock, assertOpen: () => void) {
    this.#store = store;
    this.#clock = clock;
    this.#assertOpen = assertOpen;
  }

  /** All people by name. */
  async people(): Promise<readonly Person[]> {
    this.#assertOpen();
    return this.#store.people.list();
  }

  async find(name: string): Promise<Person | undefined> {
    this.#assertOpen();
    return this.#store.people.get(checkKind("name", name, "name"));
  }

  /** True if there is a person or a budget. */
  async isInUse(): Promise<boolean> {
    this.#assertOpen();
    return this.#store.people.isInUse();
  }

  /** The tokens of a person, oldest first, ended ones included. */
  async tokens(name: string): Promise<readonly PersonToken[]> {
    this.#assertOpen();
    return this.#store.people.tokens(checkKind("name", name, "name"));
  }

  /**
   * Adds a person, or gives a token to one who has none that is valid; throws PERSON_EXISTS otherwise. The secret is
   * returned once and stored nowhere.
   */
  async add(
    name: string,
    options: PersonSettings & { readonly expiresAt?: number; readonly by: string },
  ): Promise<{ readonly person: Person; readonly secret: string }> {
    this.#assertOpen();
    checkFields("options", options, { by: "name", expiresAt: "number?" });
    const now = this.#clock.now();
    const known = await this.find(name);
    if (!known) checkName(name);
    const tokens = known ? await this.tokens(name) : [];
    if (tokens.some((token) => getTokenState(token, now) === "valid"))
      throw new LonghaulError(
        "PERSON_EXISTS",
        `${name} has a token already; "longhaul token rotate ${name}" replaces it, "longhaul token set ${name}" changes rights and budgets.`,
        { details: { person: name } },
      );
    const person = applySettings(known ?? { name, role: "member", createdAt: now }, options);
    const secret = createPersonSecret();
    const { expiresAt } = options;
    const token = buildToken(secret, { person: name, createdAt: now, ...dropUndefined({ expiresAt }) });
    const details = { role: person.role, expiresAt: expiresAt ?? null };
    const act = this.#act(options.by, "token.add", name, details);
    await this.#store.people.addToken(token, { person, allows: true }, act);
    return { person, secret };
  }

  /** Changes role, models and upstreams of a person. */
  async change(name: string, options: PersonSettings & { readonly by: string }): Promise<Person> {
    checkFields("options", options, { by: "name" });
    const known = await this.#require(name);
    const person = applySettings(known, options);
    if (person.role !== "admin") await this.#requireOtherAdmin(known, options.by);
    const { role, models, upstreams } = person;
    const details = {
      role,
      models: models ? [...models] : null,
      upstreams: upstreams ? [...upstreams] : null,
    };
    await this.#store.people.put(person, this.#act(options.by, "person.change", name, details));
    return person;
  }

  /**
   * Gives a person a new secret; the former ones end after `graceMs`, at once by default. One that the person makes with
   * an own token, `from`, ends when that allows at the latest; one that somebody else makes allows the person to sign in.
   */
  async rotate(
    name: string,
    options: {
      readonly graceMs?: number;
      readonly expiresAt?: number;
      readonly from?: PersonToken;
      readonly by: string;
    },
  ): Promise<{ readonly person: Person; readonly secret: string }> {
    checkFields("options", options, { by: "name", expiresAt: "number?" });
    const graceMs = checkWholeNumber("graceMs", options.graceMs ?? 0, 0);
    const person = await this.#require(name);
    const now = this.#clock.now();
    const secret = createPersonSecret();
    const { from } = options;
    const limitAt = from && (from.limitAt ?? from.expiresAt);
    const expiresAt =
      limitAt === undefined ? options.expiresAt : Math.min(options.expiresAt ?? limitAt, limitAt);
    const facts = dropUndefined({ expiresAt, limitAt, signIn: from?.signIn });
    const token = buildToken(secret, { person: name, createdAt: now, ...facts });
    const details = { graceMs, expiresAt: expiresAt ?? null };
    const act = this.#act(options.by, "token.rotate", name, details);
    const allows = options.by !== buildPersonId(name);
    if (!(await this.#store.people.addToken(token, { othersEndAt: now + graceMs, allows }, act)))
      throw createBlockedError(name);
    return { person, secret };
  }

  /**
   * Adds a token that ends by itself, and its person, a member, if there is none; the other tokens stay. `limitAt` is the
   * latest end of tokens that the person makes with it; neither passes the end that an admin has set for the person.
   * Throws PERSON_BLOCKED for a person whose access an admin has ended.
   */
  async signIn(
    name: string,
    options: { readonly expiresAt: number; readonly limitAt?: number; readonly signIn?: ProviderSignIn },
  ): Promise<{ readonly secret: string; readonly expiresAt: number }> {
    this.#assertOpen();
    checkFields("options", options, { expiresAt: "number", limitAt: "number?", signIn: "object?" });
    const now = this.#clock.now();
    const known = await this.find(name);
    if (!known) checkName(name);
    const endAt = known ? await this.#findAdminEnd(name) : Number.POSITIVE_INFINITY;
    if (endAt <= now) throw createBlockedError(name);
    const { signIn = { subject: computeDigest(name) } } = options;
    const expiresAt = Math.min(options.expiresAt, endAt);
    const limitAt = Math.min(options.limitAt ?? options.expiresAt, endAt);
    const secret = createPersonSecret();
    const token = buildToken(secret, { person: name, createdAt: now, expiresAt, limitAt, signIn });
    const person = known ? {} : { person: { name, role: "member" as const, createdAt: now } };
    const act = this.#act(buildPersonId(name), "token.sign-in", name, { expiresAt });
    if (!(await this.#store.people.addToken(token, { ...person, allows: false }, act)))
      throw createBlockedError(name);
    return { secret, expiresAt };
  }

  /** Ends the tokens of a sign-in that its provider has ended, or the one token with which somebody signs out. */
  async signOut(
    wanted: ProviderSignIn | Pick<PersonToken, "digest">,
    options: { readonly by: string },
  ): Promise<number> {
    this.#assertOpen();
    checkFields("options", options, { by: "name" });
    const act = this.#act(options.by, "token.sign-out", options.by, {});
    return this.#store.people.endSignIns(wanted, this.#clock.now(), act);
  }

  /** The latest end of the tokens that admins gave a person; infinite if they gave none, or one without an end. */
  async #findAdminEnd(name: string): Promise<number> {
    const given = (await this.tokens(name)).filter(({ signIn }) => signIn === undefined);
    if (given.length === 0) return Number.POSITIVE_INFINITY;
    const ends = given.map(({ limitAt, expiresAt }) => limitAt ?? expiresAt ?? Number.POSITIVE_INFINITY);
    return Math.max(...ends);
  }

  /** Ends all tokens of a person at once and returns the number of those that were valid. */
  async revoke(name: string, options: { readonly by: string }): Promise<number> {
    checkFields("options", options, { by: "name" });
    await this.#requireOtherAdmin(await this.#require(name), options.by);
    return this.#store.people.revoke(
      name,
      this.#clock.now(),
      this.#act(options.by, "token.revoke", name, {}),
    );
  }

  /** Removes a person with tokens and budgets; the sessions stay. Facts about the removal go to the audit log. */
  async remove(
    name: string,
    options: { readonly by: string; readonly details?: AuditAct["details"] },
  ): Promise<RemovedPerson> {
    this.#assertOpen();
    checkKind("name", name, "name");
    checkFields("options", options, { by: "name", details: "json?" });
    return this.#store.people.remove(
      name,
      this.#act(options.by, "person.erase", name, options.details ?? {}),
    );
  }

  /** The owner of a secret; undefined if nobody has it. */
  async authenticate(secret: string): Promise<TokenOwner | undefined> {
    this.#assertOpen();
    const found = await this.#store.people.findToken(digestSecret(checkKind("secret", secret, "name")));
    return found && { ...found, state: getTokenState(found.token, this.#clock.now()) };
  }

  /** The budgets of a person and of everybody, or all, with their use. */
  async budgets(person?: string): Promise<readonly BudgetStatus[]> {
    this.#assertOpen();
    const now = this.#clock.now();
    const list = await this.#store.budgets.list(person);
    const periods = list.map(({ id, period }) => ({ budget: id, start: getPeriodStart(period, now) }));
    const uses = await this.#store.budgets.uses(periods);
    return list.map((budget) =>
      toBudgetStatus(
        budget,
        uses.find((use) => use.budget === budget.id),
        now,
      ),
    );
  }

  /** Adds a budget, or changes the amount of the one with the same scope, unit and period; its count continues. */
  async setBudget(rule: BudgetRule, options: { readonly by: string }): Promise<TeamBudget> {
    this.#assertOpen();
    checkFields("options", options, { by: "name" });
    const { person, project, model, unit, period, amount } = checkRule(rule);
    if (person !== undefined) await this.#require(person);
    const id = computeDigest(JSON.stringify([person, project, model, unit, period]), 12);
    const budget = { ...rule, id };
    const details = { id, budget: formatBudget(rule), amount };
    await this.#store.budgets.put(budget, this.#act(options.by, "budget.set", person ?? "*", details));
    return budget;
  }

  /** Removes a budget; false if there is none with the id. */
  async removeBudget(id: string, options: { readonly by: string }): Promise<boolean> {
    this.#assertOpen();
    checkFields("options", options, { by: "name" });
    const known = (await this.#store.budgets.list()).find((budget) => budget.id === id);
    if (!known) return false;
    const details = { id, budget: formatBudget(known) };
    return this.#store.budgets.remove(
      id,
      this.#act(options.by, "budget.remove", known.person ?? "*", details),
    );
  }

  /** Opens the gate through which a gateway's requests go; the caller closes it. */
  openGate(onError: (error: unknown) => void): BudgetGate {
    this.#assertOpen();
    return new BudgetGate(this.#store.budgets, this.#clock, checkKind("onError", onError, "function"));
  }

  /** Adds an act to the audit log. */
  async record(act: Omit<AuditAct, "at">): Promise<AuditEntry> {
    this.#assertOpen();
    checkFields("act", act, { actor: "name", act: "name", target: "text", details: "json" });
    return this.#store.audit.append({ ...act, at: this.#clock.now() });
  }

  /** Entries of the audit log after a seq, oldest first. */
  async audit(
    query: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly AuditEntry[]> {
    this.#assertOpen();
    checkFields("query", query);
    const after = checkWholeNumber("after", query.after ?? 0, 0);
    return this.#store.audit.list({ after, limit: checkWholeNumber("limit", query.limit ?? 100, 1, PAGE) });
  }

  /** Reads the whole audit log and returns the first problem of its chain; undefined if it is whole. */
  async verifyAudit(): Promise<string | undefined> {
    // Read before the entries: one that is appended meanwhile is not missing.
    const head = await this.#store.audit.head?.();
    let last: AuditEntry | undefined;
    let isHeadFound = head === undefined;
    for (;;) {
      const page = await this.audit({ after: last?.seq ?? 0, limit: PAGE });
      const problem = findAuditProblem(page, last);
      if (problem !== undefined) return problem;
      isHeadFound ||= page.some(({ seq, digest }) => seq === head?.seq && digest === head.digest);
      last = page.at(-1) ?? last;
      if (page.length < PAGE) break;
    }
    return isHeadFound ? undefined : `its end is missing: entry ${head?.seq} was the last`;
  }

  /** Admins who give up their own rights must leave another one, or nobody could manage the gateway from afar. */
  async #requireOtherAdmin({ name, role }: Person, by: string): Promise<void> {
    if (role !== "admin" || by !== buildPersonId(name)) return;
    const now = this.#clock.now();
    for (const other of await this.people()) {
      if (other.role !== "admin" || other.name === name) continue;
      if ((await this.tokens(other.name)).some((token) => getTokenState(token, now) === "valid")) return;
    }
    throw createArgumentError(
      "name",
      name,
      "not the last admin with a valid token; make another person admin first",
    );
  }

  async #require(name: string): Promise<Person> {
    const person = await this.find(name);
    if (person) return person;
    throw new LonghaulError(
      "PERSON_NOT_FOUND",
      `There is no person ${JSON.stringify(name)}; "longhaul token list" lists them, "longhaul token add" adds one.`,
      { details: { person: name } },
    );
  }

  #act(actor: string, act: string, target: string, details: AuditAct["details"]): AuditAct {
    return { at: this.#clock.now(), actor, act, target, details };
  }
}

function checkName(name: string): void {
  if (typeof name !== "string" || name.length > MAX_NAME || !NAME.test(name) || name === LOCAL_PERSON)
    throw createArgumentError(
      "name",
      name,
      '1 to 64 letters, digits, single spaces between them and . _ @ + -, and not "local"',
    );
}

/** Whether a token may be used at a time. */
function getTokenState({ expiresAt, revokedAt }: PersonToken, now: number): TokenOwner["state"] {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "valid";
}

function buildToken(secret: string, facts: Omit<PersonToken, "digest">): PersonToken {
  return { digest: digestSecret(secret), ...facts };
}

function createBlockedError(name: string): LonghaulError {
  return new LonghaulError(
    "PERSON_BLOCKED",
    `An admin has ended the access of ${name}; "longhaul token rotate ${name}" allows it again.`,
    { details: { person: name } },
  );
}

function applySettings(person: Person, { role, models, upstreams }: PersonSettings): Person {
  if (role !== undefined && !PERSON_ROLES.includes(role))
    throw createArgumentError("role", role, PERSON_ROLES.join(" or "));
  if (models) checkTexts("models", models);
  if (upstreams) checkTexts("upstreams", upstreams);
  const { models: formerModels, upstreams: formerUpstreams, ...rest } = person;
  const nextModels = models === undefined ? formerModels : models;
  const nextUpstreams = upstreams === undefined ? formerUpstreams : upstreams;
  return {
    ...rest,
    ...dropUndefined({ role, models: nextModels ?? undefined, upstreams: nextUpstreams ?? undefined }),
  };
}

function checkRule(rule: BudgetRule): BudgetRule {
  checkFields("budget", rule, { person: "name?", project: "name?", model: "name?", amount: "number" });
  if (rule.amount < 0) throw createArgumentError("budget.amount", rule.amount, "0 or more");
  if (!BUDGET_UNITS.includes(rule.unit))
    throw createArgumentError("budget.unit", rule.unit, BUDGET_UNITS.join(", "));
  if (!BUDGET_PERIODS.includes(rule.period))
    throw createArgumentError("budget.period", rule.period, BUDGET_PERIODS.join(", "));
  return rule;
}

/** Checks that each entry follows the one before; returns the first problem. `last` is the entry before the first. */
function findAuditProblem(
  entries: readonly AuditEntry[],
  last?: Pick<AuditEntry, "seq" | "digest">,
): string | undefined {
  let previous = last;
  for (const entry of entries) {
    const seq = (previous?.seq ?? 0) + 1;
    if (entry.seq !== seq) return `entry ${seq} is missing`;
    if (entry.previous !== (previous?.digest ?? "")) return `entry ${seq} does not follow the one before`;
    if (entry.digest !== computeAuditDigest(entry)) return `entry ${seq} was changed`;
    previous = entry;
  }
  return undefined;
}

/** Begins every secret of a person, so that it is recognized and never sent to a provider. */
const SECRET_PREFIX = "lh_";

/** A random secret of 256 bits. */
function createPersonSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString("base64url");
}

/** True for a text with the form of a person's secret. */
export function isPersonSecret(text: string): boolean {
  return text.startsWith(SECRET_PREFIX);
}

/** The digest under which a secret is stored. 256 random bits need no slow hash. */
function digestSecret(secret: string): string {
  return computeDigest(secret);
}
