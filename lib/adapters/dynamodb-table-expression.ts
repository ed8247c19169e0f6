// Conditions and changes in DynamoDB's expression language. Every name and value goes in by alias: names may
// be reserved words or hold any character.
import type { Change, Condition, Value } from "../ports/table.ts";

export function expression() {
  const names: Record<string, string> = {};
  const values: Record<string, Value> = {};
  const aliases = new Map<string, string>();

  function name(attribute: string): string {
    const alias = aliases.get(attribute) ?? `#${aliases.size}`;
    aliases.set(attribute, alias);
    names[alias] = attribute;
    return alias;
  }

  function value(of: Value): string {
    const alias = `:${Object.keys(values).length}`;
    values[alias] = of;
    return alias;
  }

  /** Holds for items that are not expired. For filters, and for conditions on items that exist. */
  function unexpired(nowSeconds: number): string {
    return `attribute_not_exists(${name("ttl")}) OR ${name("ttl")} > ${value(nowSeconds)}`;
  }

  /** Expired = absent, in both directions. */
  function condition(wanted: Condition, nowSeconds: number): string {
    if ("absent" in wanted) {
      return `attribute_not_exists(${name("sk")}) OR ${name("ttl")} <= ${value(nowSeconds)}`;
    }
    const equal = Object.entries(wanted.equals).map(([attribute, is]) =>
      is === undefined ? `attribute_not_exists(${name(attribute)})` : `${name(attribute)} = ${value(is)}`,
    );
    return [`attribute_exists(${name("sk")})`, `(${unexpired(nowSeconds)})`, ...equal].join(" AND ");
  }

  /** Empty when nothing changes. */
  function update(change: Change): string {
    const set = Object.entries(change.set ?? {}).map(([attribute, to]) => `${name(attribute)} = ${value(to)}`);
    const remove = (change.remove ?? []).map(name);
    const add = Object.entries(change.add ?? {}).map(([attribute, by]) => `${name(attribute)} ${value(by)}`);
    return [clause("SET", set), clause("REMOVE", remove), clause("ADD", add)].filter(Boolean).join(" ");
  }

  /** The aliases in use; DynamoDB refuses empty maps. */
  function parts() {
    return {
      ...(aliases.size > 0 ? { ExpressionAttributeNames: names } : {}),
      ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    };
  }

  return { name, value, unexpired, condition, update, parts };
}

function clause(word: string, terms: string[]): string {
  return terms.length === 0 ? "" : `${word} ${terms.join(", ")}`;
}
