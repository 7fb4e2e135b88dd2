import { getConfigSchemaJson } from "../../src/server/gateway/config/config.ts";

/** The part of a JSON Schema that the table shows. */
interface SchemaNode {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
}

/** A setting of the configuration file. */
export interface Setting {
  /** Its key; `[]` stands for the elements of a list, `*` for names that the user chooses. */
  readonly key: string;
  readonly default: unknown;
  readonly text: string | undefined;
}

/** Lists all settings with their defaults and texts; an object whose keys are fixed is listed by its keys only. */
export function listSettings(): readonly Setting[] {
  return listBelow(getConfigSchemaJson() as SchemaNode, "");
}

/** Builds the table of docs/configuration.md. */
export function buildSettingsTable(): string {
  const rows = listSettings().map(
    ({ key, default: value, text }) => `| \`${key}\` | ${formatDefault(key, value)} | ${text ?? ""} |`,
  );
  return ["| key | default | meaning |", "|---|---|---|", ...rows].join("\n");
}

function listBelow(node: SchemaNode, key: string): readonly Setting[] {
  const inner = [
    ...Object.entries(node.properties ?? {}).map(
      ([name, child]) => [child, key === "" ? name : `${key}.${name}`] as const,
    ),
    ...(node.items?.properties ? [[node.items, `${key}[]`] as const] : []),
    ...(typeof node.additionalProperties === "object"
      ? [[node.additionalProperties, `${key}.*`] as const]
      : []),
  ];
  const setting = { key, default: node.default, text: node.description };
  const below = inner.flatMap(([child, name]) => listBelow(child, name));
  if (setting.text !== undefined && below.every(({ text }) => text === undefined)) return [setting];
  const own = key !== "" && !/\.\*$|\[\]$/.test(key) && !isSection(node);
  return [...(own ? [setting] : []), ...below];
}

/** Whether a node only groups settings: nobody sets it as a whole. */
function isSection({ properties, default: value }: SchemaNode): boolean {
  return properties !== undefined && (value === undefined || JSON.stringify(value) === "{}");
}

function formatDefault(key: string, value: unknown): string {
  if (value === undefined || (typeof value === "object" && Object.keys(value ?? {}).length === 0)) return "–";
  if (typeof value !== "number" || !/Bytes$/.test(key))
    return `\`${JSON.stringify(value).replaceAll('"', "")}\``;
  const mebibytes = value / 1_048_576;
  if (mebibytes < 1) return `${value / 1_024} KiB`;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${value / 1_000_000} MB`;
}
