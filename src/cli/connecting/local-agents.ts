import { join } from "node:path";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { maskSecrets } from "../../model/secrets/mask-secrets.ts";
import type {
  AgentChange,
  AgentConnection,
  AgentConnections,
  AgentLink,
  ConfigFileChange,
  ConnectionWay,
} from "../../server/api/index.ts";
import type { GatewayAddress } from "../../server/gateway/index.ts";
import { digestContent } from "./agent-file.ts";
import type { AgentConnector, UserPlace } from "./agents/agent-connector.ts";
import { CONNECTORS } from "./agents/connectors.ts";
import { findAgents } from "./find-agents.ts";
import { toMcpConnector, toStdioAddress } from "./mcp/mcp-connectors.ts";
import type { StdioServer } from "./mcp/stdio-server.ts";
import { type ConnectionPlan, carryOutConnection, planConnection } from "./plan-connection.ts";
import { carryOutDisconnection, type DisconnectionPlan, planDisconnection } from "./plan-disconnection.ts";
import { diffText } from "./text-diff.ts";

/** Facts about this computer and its gateway. */
interface LocalAgentsDeps {
  readonly place: UserPlace;
  /** Folder of the store, which holds the backups. */
  readonly store: string;
  readonly gateway: () => GatewayAddress;
  readonly server: StdioServer;
  /** Called before an agent is connected that will start the MCP server itself. */
  readonly keepStore?: () => void;
  /** Remarks about the gateway's address for every connection to it. */
  readonly notes?: readonly string[];
}

interface PlannedChange {
  readonly shown: AgentChange;
  carryOut(): void;
}

/** Connects and disconnects the agents of this computer on behalf of the gateway's dashboard. */
export class LocalAgents implements AgentConnections {
  readonly #deps: LocalAgentsDeps;

  constructor(deps: LocalAgentsDeps) {
    this.#deps = deps;
  }

  get url(): string {
    return this.#deps.gateway().url;
  }

  list(): readonly AgentConnection[] {
    const found = new Set(findAgents(this.#deps.place).map(({ name }) => name));
    return CONNECTORS.map((connector) => ({
      name: connector.name,
      title: connector.title,
      isFound: found.has(connector.name),
      gateway: this.#describeLink(connector, "gateway"),
      mcp: this.#describeLink(connector, "mcp"),
    }));
  }

  plan(agent: string, way: ConnectionWay, change: "connect" | "disconnect"): AgentChange | undefined {
    return this.#plan(agent, way, change)?.shown;
  }

  apply(
    agent: string,
    way: ConnectionWay,
    change: "connect" | "disconnect",
    expectedDigest: string,
  ): boolean {
    const planned = this.#plan(agent, way, change);
    if (planned?.shown.digest !== expectedDigest) return false;
    planned.carryOut();
    return true;
  }

  #plan(agent: string, way: ConnectionWay, change: "connect" | "disconnect"): PlannedChange | undefined {
    const connector = CONNECTORS.find(({ name }) => name === agent);
    if (!connector) return undefined;
    return change === "connect"
      ? this.#planConnect(connector, this.#planConnection(connector, way), way)
      : this.#planDisconnect(connector, this.#planDisconnection(connector, way));
  }

  #planConnect({ name, title }: AgentConnector, plan: ConnectionPlan, way: ConnectionWay): PlannedChange {
    const base = { name, title };
    if (plan.state !== "change") {
      const obstacle = describeObstacle(plan);
      const notes = plan.state === "unchanged" ? plan.notes : [];
      const shown = { ...base, files: [], notes, ...dropUndefined({ obstacle }) };
      return { shown: withDigest(shown, []), carryOut: () => undefined };
    }
    const { file, text } = plan;
    const change = describeFile(file.path, file.text, text, { isNew: !file.bytes, isRemoved: false });
    const remarks = way === "gateway" ? (this.#deps.notes ?? []) : [];
    const shown = { ...base, files: [change], notes: [...plan.notes, ...remarks] };
    return {
      shown: withDigest(shown, [file.path, file.text, text]),
      carryOut: () => {
        if (way === "mcp") this.#deps.keepStore?.();
        carryOutConnection(plan, this.#deps.store);
      },
    };
  }

  #planDisconnect({ name, title }: AgentConnector, plans: readonly DisconnectionPlan[]): PlannedChange {
    const changes = plans.flatMap((plan) =>
      plan.state === "restore" || plan.state === "remove" ? [plan] : [],
    );
    const refused = plans.find((plan) => plan.state === "refused");
    const files = changes.map(({ path, file, content }) =>
      describeFile(path, file.text, content?.toString("utf8") ?? "", {
        isNew: false,
        isRemoved: content === undefined,
      }),
    );
    const notes = plans.flatMap((plan) => (plan.state === "refused" ? [] : plan.notes));
    const obstacle = refused?.state === "refused" ? { obstacle: `${refused.path}: ${refused.reason}` } : {};
    const contents = changes.flatMap(({ path, file, content }) => [
      path,
      file.text,
      content?.toString("utf8") ?? "\0removed",
    ]);
    return {
      shown: withDigest({ name, title, files, notes, ...obstacle }, contents),
      carryOut: () => {
        for (const plan of plans) carryOutDisconnection(plan);
      },
    };
  }

  #describeLink(connector: AgentConnector, way: ConnectionWay): AgentLink {
    const plan = this.#planConnection(connector, way);
    if (plan.state === "unsupported") return { state: "unsupported", note: plan.reason };
    if (plan.state === "manual") return { state: "manual", note: plan.instructions };
    if (plan.state === "refused") return { state: "refused", path: plan.path, note: plan.reason };
    const { path } = plan.file;
    if (plan.state === "unchanged") return { state: "connected", path };
    const hasSettings = this.#planDisconnection(connector, way).some(
      ({ state }) => state === "restore" || state === "remove",
    );
    return { state: hasSettings ? "other" : "absent", path };
  }

  #planConnection(connector: AgentConnector, way: ConnectionWay): ConnectionPlan {
    const { place, store, gateway, server } = this.#deps;
    const setting = { place, store, now: Date.now() };
    return way === "mcp"
      ? planConnection(toMcpConnector(connector, server), { ...setting, gateway: toStdioAddress(server) })
      : planConnection(connector, { ...setting, gateway: gateway() });
  }

  #planDisconnection(connector: AgentConnector, way: ConnectionWay): readonly DisconnectionPlan[] {
    const { place, store, server } = this.#deps;
    const stores = [store, join(place.home, ".longhaul")];
    return way === "mcp"
      ? planDisconnection(toMcpConnector(connector, server), {
          place,
          stores,
          urls: [server.program, this.url],
        })
      : planDisconnection(connector, { place, stores, urls: [this.url] });
  }
}

function describeObstacle(plan: ConnectionPlan): string | undefined {
  if (plan.state === "manual") return plan.instructions;
  if (plan.state === "unsupported" || plan.state === "refused") return plan.reason;
  return undefined;
}

function describeFile(
  path: string,
  before: string,
  after: string,
  file: Pick<ConfigFileChange, "isNew" | "isRemoved">,
): ConfigFileChange {
  return { path, ...file, diff: diffText(maskSecrets(before), maskSecrets(after)) };
}

/** The digest covers the content of the files, not its masked picture. */
function withDigest(change: Omit<AgentChange, "digest">, contents: readonly string[]): AgentChange {
  return { ...change, digest: digestContent(JSON.stringify([change.name, contents])).slice(0, 32) };
}
