import type { WireObject } from "../../../../src/wire/wire.ts";
import { type Life, MODELS, openCalls, stripped } from "./life.ts";

/** Something that happens to a conversation; numbers choose among what there is. */
export interface Happening {
  readonly kind: Kind;
  readonly number: number;
}

const FACT = "The vault of the cellar opens with heronfold turns.";
/** A conversation from which a page may come. */
const ELSEWHERE = "elsewhere";

const encoded = (id: string) => encodeURIComponent(id);

/** The fields of a message that count for the API. */
interface Listed {
  readonly id: string;
  readonly kind: string;
}

/** The effect of each kind on a life. */
export const HAPPENINGS = {
  /** The agent works on. */
  async work(life: Life, number: number) {
    for (let step = 0; step < 2 + (number % 9); step++) await life.step(1_500 + 1_000 * (number % 7));
  },
  /** Two outputs come that fill a good part of the window. */
  async large(life: Life, number: number) {
    await life.step(9_000 + 4_000 * (number % 4));
    await life.step(9_000 + 4_000 * (number % 4));
  },
  /** The provider refuses requests that its catalogue allows. */
  async narrow(life: Life) {
    life.narrow();
    await life.step(6_000);
  },
  /** A person asks about something long ago. */
  async question(life: Life, number: number) {
    await life.finishTurn();
    await life.step(
      0,
      `What did file${number % 23}.ts in part ${number % 17} compute, and how does the vault open?`,
    );
  },
  /** The model looks something up by itself. */
  async recall(life: Life) {
    life.recall();
    await life.step(500);
  },
  async count(life: Life) {
    await life.finishTurn();
    life.branch.agent.elements.push(...life.branch.agent.words("How long is this?"));
    await life.countTokens();
    life.branch.agent.elements.pop();
  },
  async restart(life: Life) {
    await life.restart();
  },
  async turns(life: Life) {
    await life.changeGateway();
  },
  /** A person takes the newest edit back. */
  async undo(life: Life) {
    const id = await life.sessionOf(life.branch);
    if (id === undefined) return;
    const done = await life.api("POST", `/sessions/${encoded(id)}/revert`, {});
    if (done) life.branch.isChanged = true;
  },
  /** A person erases the content of a message. */
  async redact(life: Life, number: number) {
    const id = await life.sessionOf(life.branch);
    if (id === undefined) return;
    const page = await life.api("GET", `/sessions/${encoded(id)}/entries?limit=500&kinds=message`);
    const entries = (page.entries as readonly Listed[]).slice(0, -1);
    const entry = entries[number % Math.max(1, entries.length)];
    if (!entry) return;
    if (await life.confirm(`/sessions/${encoded(id)}/redact`, { entries: [entry.id] }))
      for (const branch of life.branches) branch.isChanged = true;
  },
  /** A person forgets another conversation, of which a page may stand in this one. */
  async erase(life: Life) {
    const known = await life.sessionOf({ ...life.branch, name: ELSEWHERE });
    if (known === undefined) {
      await life.api("POST", "/sessions", { id: ELSEWHERE });
      const messages = [
        { role: "user", text: FACT },
        { role: "assistant", text: "I keep that in mind." },
      ];
      await life.api("POST", `/sessions/${ELSEWHERE}/entries`, { messages });
      await life.finishTurn();
      await life.step(0, "How many turns open the vault of the cellar?");
    } else if (await life.confirm(`/sessions/${encoded(known)}/forget`))
      for (const branch of life.branches) branch.isChanged = true;
  },
  /** A person has something remembered. */
  async remember(life: Life, number: number) {
    await life.api("POST", "/memories", {
      text: `Fact ${number}: the lighthouse is north of pier ${number}.`,
    });
  },
  /** A person pins a message. */
  async pin(life: Life, number: number) {
    const id = await life.sessionOf(life.branch);
    if (id === undefined) return;
    const page = await life.api("GET", `/sessions/${encoded(id)}/entries?limit=500&kinds=message`);
    const entry = page.entries[number % page.entries.length] as Listed | undefined;
    if (entry) await life.api("POST", `/sessions/${encoded(id)}/pins`, { entry: entry.id });
    life.branch.isChanged = true;
  },
  /** The client goes back to an earlier message and goes on from there in other words. */
  async rewind(life: Life, number: number) {
    const { agent } = life.branch;
    const questions = indexesOfQuestions(agent.elements).slice(1);
    const at = questions[number % Math.max(1, questions.length)];
    if (at === undefined) return;
    agent.elements = agent.elements.slice(0, at);
    life.branch.isChanged = true;
    // Edits made behind this place leave with it, so thinking before it may be whole again.
    life.branch.leftOut.clear();
    await life.step(0, `Another way ${number}: do it otherwise.`);
  },
  /** The client opens a second conversation from an earlier message, and both may go on. */
  async fork(life: Life, number: number) {
    const from = life.branch;
    const questions = indexesOfQuestions(from.agent.elements).slice(1);
    const at = questions[number % Math.max(1, questions.length)];
    if (at === undefined) return;
    const fork = life.addBranch(`fork-${life.branches.length}`, from);
    fork.agent.elements = fork.agent.elements.slice(0, at);
    await life.step(0, `A fork ${number}: try something else.`);
  },
  /** The client goes on in another of its conversations. */
  async other(life: Life, number: number) {
    life.choose(number);
    await life.step(300);
  },
  /** The client works on with another model. */
  async model(life: Life, number: number) {
    await life.finishTurn();
    life.branch.agent.fields.model = MODELS[number % MODELS.length];
    life.branch.isChanged = true;
    await life.step(300);
  },
  /** The client sums its older messages up, and leaves the thinking of the others out. */
  async compact(life: Life, number: number) {
    await life.finishTurn();
    const { agent } = life.branch;
    const questions = indexesOfQuestions(agent.elements).slice(1);
    const at = questions[number % Math.max(1, questions.length)] ?? agent.elements.length;
    const told = `This session continues an earlier one.\n<summary>${"Files were read and tests were run. ".repeat(12)}Summary ${number}.</summary>`;
    const summary = [...agent.words(told), { role: "assistant", content: "Understood, I go on." }];
    agent.elements = [...summary, ...stripped(agent.elements.slice(at))];
    life.branch.isChanged = true;
    await life.step(0);
  },
  /** The client offers other tools, and leaves all thinking out that is bound to the earlier ones. */
  async tools(life: Life, number: number) {
    const { agent } = life.branch;
    const tools = ["read_file", "run_command", "search", "write_file"].slice(0, 2 + (number % 3));
    agent.fields.tools = tools.map((name) => ({ name, input_schema: { type: "object" } }));
    agent.elements = stripped(agent.elements);
    life.branch.isChanged = true;
    await life.step(300);
  },
  /** The client changes its system prompt, and leaves all thinking out that is bound to the earlier one. */
  async system(life: Life, number: number) {
    const { agent } = life.branch;
    agent.fields.system = `You are a coding agent that works on a project, and you think before you act. Mode ${number % 3}.`;
    agent.elements = stripped(agent.elements);
    life.branch.isChanged = true;
    await life.step(300);
  },
} satisfies Readonly<Record<string, (life: Life, number: number) => Promise<void>>>;

export type Kind = keyof typeof HAPPENINGS;

export const KINDS = Object.keys(HAPPENINGS) as readonly Kind[];

/** The messages of people, at which a turn begins. */
function indexesOfQuestions(elements: readonly WireObject[]): readonly number[] {
  return elements.flatMap(({ role, content }, index) => {
    const isQuestion = role === "user" && !JSON.stringify(content).includes('"tool_result"');
    return isQuestion && openCalls(elements.slice(0, index)).length === 0 ? [index] : [];
  });
}
