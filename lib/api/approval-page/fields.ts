// The form fields for a tool's arguments, from its JSON Schema and the arguments at hand. One level: a
// string, number, yes/no or choice has its own control, anything else is edited as JSON. Rendering and
// parsing both start from here, so they cannot disagree.
import { visible, visibleJson } from "../../core/approval/describe.ts";
import type { Json, JsonObject } from "../../core/json.ts";

export type FieldKind = "text" | "lines" | "integer" | "number" | "boolean" | "choice" | "json";

export type Field = {
  /** Property name; null when the arguments can only be edited as a whole. */
  name: string | null;
  /** Name of the control in the form. */
  control: string;
  kind: FieldKind;
  description?: string;
  required: boolean;
  /** As it is now; undefined when the property is absent. */
  value: Json | undefined;
  /** What the control shows for `value`. */
  text: string;
  /** For `choice`. */
  options: Json[];
};

/** `schema`: JSON Schema of an object, as the model sees it. Properties it does not name are kept and editable too. */
export function fieldsOf(schema: JsonObject, input: JsonObject): Field[] {
  const properties = asObject(schema.properties);
  const names = [...new Set([...Object.keys(properties), ...Object.keys(input)])];
  // A name that a form would not send back as it is: edit the whole, rather than lose a property.
  if (names.length === 0 || names.some((name) => name === "" || visible(name) !== name || /[\n\t]/.test(name))) {
    const text = visibleJson(input);
    return [{ name: null, control: "arg.", kind: "json", required: true, value: input, text, options: [] }];
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  return names.map((name) => {
    const property = asObject(properties[name]);
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    const options = choices(property);
    const kind = kindOf(property, value, options);
    return {
      name,
      control: `arg.${name}`,
      kind,
      ...(typeof property.description === "string" ? { description: property.description } : {}),
      required: required.includes(name),
      value,
      text: shownText(kind, value),
      options,
    };
  });
}

function kindOf(property: JsonObject, value: Json | undefined, options: Json[]): FieldKind {
  if (options.length > 0 && (value === undefined || options.some((one) => isSame(one, value)))) return "choice";
  const type = property.type;
  if (type === "string" && (value === undefined || (typeof value === "string" && survivesForm(value)))) {
    const long = typeof value === "string" && (value.length > 60 || value.includes("\n"));
    const roomy = typeof property.maxLength === "number" && property.maxLength > 200;
    return long || roomy ? "lines" : "text";
  }
  if ((type === "integer" || type === "number") && (value === undefined || typeof value === "number")) return type;
  if (type === "boolean" && (value === undefined || typeof value === "boolean")) return "boolean";
  return "json";
}

/** Text that a browser sends back as it was, but for the kind of its line ends. Other text is edited with escapes. */
function survivesForm(text: string): boolean {
  return visible(text) === text.replaceAll("\r\n", "\n");
}

function shownText(kind: FieldKind, value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string" && (kind === "text" || kind === "lines")) return value.replaceAll("\r\n", "\n");
  return kind === "json" ? visibleJson(value) : JSON.stringify(value);
}

function choices(property: JsonObject): Json[] {
  if (Array.isArray(property.enum)) return property.enum;
  return property.const === undefined ? [] : [property.const];
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
