import type { Reply } from "../../api/routes.ts";
import { setQuery } from "../../shell/router.ts";
import { connectText as text } from "./connect-text.ts";

export type Agent = Reply<"GET /agents">["agents"][number];
export const WAYS = ["gateway", "mcp"] as const;
export type Way = (typeof WAYS)[number];
type Link = Agent["gateway"];

const STATES = {
  connected: "connected",
  other: "other",
  absent: "absent",
  manual: "manual",
  unsupported: "unsupported",
  refused: "refused",
} as const;
const CLASSES = {
  connected: "live",
  other: "warm",
  absent: "",
  manual: "",
  unsupported: "",
  refused: "bad",
} as const;
const HINTS = { gateway: "gatewayHint", mcp: "mcpHint" } as const;

/** One agent with its two ways of connection. */
export function AgentCard({ agent }: { readonly agent: Agent }) {
  return (
    <li class="agent card">
      <h3>{agent.title}</h3>
      {WAYS.map((way) => (
        <AgentWay key={way} name={agent.name} title={agent.title} way={way} link={agent[way]} />
      ))}
    </li>
  );
}

interface AgentWayProps {
  readonly name: string;
  readonly title: string;
  readonly way: Way;
  readonly link: Link;
}

function AgentWay({ name, title, way, link: { state, path, note } }: AgentWayProps) {
  const open = (change: "connect" | "disconnect") => setQuery({ agent: name, way, change });
  return (
    <div class="way">
      <div class="way-name">
        <span title={text(HINTS[way])}>{text(way)}</span>
        <span class={`pill ${CLASSES[state]}`}>{text(STATES[state])}</span>
      </div>
      <div class="way-file">
        {path && <code>{path}</code>}
        {note && <p class="dim">{note}</p>}
      </div>
      <div class="way-actions">
        {(state === "absent" || state === "other") && (
          <button
            type="button"
            aria-label={text("connectNamed", { title, way: text(way) })}
            onClick={() => open("connect")}
          >
            {text(state === "other" ? "connectHere" : "connect")}
          </button>
        )}
        {(state === "connected" || state === "other") && (
          <button
            type="button"
            aria-label={text("disconnectNamed", { title, way: text(way) })}
            onClick={() => open("disconnect")}
          >
            {text("disconnect")}
          </button>
        )}
        {(state === "refused" || state === "manual") && (
          <button type="button" class="quiet" onClick={() => open("connect")}>
            {text("steps")}
          </button>
        )}
      </div>
    </div>
  );
}
