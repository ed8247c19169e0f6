// The form in which an approver changes the arguments: one control a property, faults shown at the field.
import { html } from "hono/html";
import { visibleLine } from "../../core/approval/describe.ts";
import type { FieldError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Field, fieldsOf } from "./fields.ts";
import type { Markup } from "./layout.ts";

export type EditFormOptions = {
  schema: JsonObject;
  /** The arguments as they stand. */
  input: JsonObject;
  pageNonce: string;
  comment?: string;
  /** Faults of the last try; the first part of a path names the property. */
  errors?: FieldError[];
  /** What was typed in the last try, by control. */
  submitted?: Record<string, string>;
};

export function editForm(options: EditFormOptions): Markup {
  const fields = fieldsOf(options.schema, options.input);
  const errors = options.errors ?? [];
  // A fault of no single field, as when two of them do not go together.
  const general = errors.filter((error) => !fields.some((field) => belongsTo(error, field)));
  return html`<details${errors.length > 0 ? html` open` : ""}>
<summary>Change the arguments</summary>
<p class="hint">You see the change once more before it counts. Approvals given before then no longer do.</p>
${general.length > 0 ? html`<p class="error" role="alert">${general.map(errorText).join("; ")}</p>\n` : ""}<form method="post">
<input type="hidden" name="nonce" value="${options.pageNonce}">
<input type="hidden" name="comment" value="${options.comment ?? ""}">
${fields.map((field, index) => fieldRow(field, `field-${index}`, options))}
<div class="buttons"><button name="do" value="change">Show me the change</button></div>
</form>
</details>`;
}

function fieldRow(field: Field, id: string, options: EditFormOptions): Markup {
  const errors = (options.errors ?? []).filter((error) => belongsTo(error, field));
  const text = options.submitted?.[field.control] ?? field.text;
  const described = [...(field.description ? [`${id}-hint`] : []), ...(errors.length > 0 ? [`${id}-error`] : [])];
  const attributes = html` id="${id}" name="${field.control}"${
    described.length > 0 ? html` aria-describedby="${described.join(" ")}"` : ""
  }${errors.length > 0 ? html` aria-invalid="true"` : ""}`;
  return html`<label for="${id}" dir="auto">${visibleLine(field.name ?? "All arguments as JSON")}${
    field.required ? "" : " (optional)"
  }</label>
${field.description ? html`<p class="hint" id="${id}-hint" dir="auto">${visibleLine(field.description, 500)}</p>\n` : ""}${control(field, text, attributes)}
${errors.length > 0 ? html`<p class="error" id="${id}-error">${errors.map(errorText).join("; ")}</p>` : ""}
`;
}

function control(field: Field, text: string, attributes: Markup): Markup {
  // The line break after <textarea> is dropped by browsers, so that a first empty line of the value is not.
  const rows = Math.min(14, Math.max(3, text.split("\n").length + 1, Math.ceil(text.length / 60)));
  switch (field.kind) {
    case "text":
      return html`<input type="text"${attributes} dir="auto" autocomplete="off" value="${text}">`;
    case "lines":
      return html`<textarea${attributes} dir="auto" rows="${rows}">\n${text}</textarea>`;
    case "json":
      return html`<textarea${attributes} class="json" dir="ltr" spellcheck="false" rows="${rows}">\n${text}</textarea>`;
    case "integer":
    case "number":
      return html`<input type="text"${attributes} inputmode="${field.kind === "integer" ? "numeric" : "decimal"}" autocomplete="off" value="${text}">`;
    case "boolean":
      return select(attributes, text, [...unset(field), ["true", "Yes"], ["false", "No"]]);
    case "choice":
      return select(attributes, text, [
        ...unset(field),
        ...field.options.map((option): [string, string] => [
          JSON.stringify(option),
          visibleLine(typeof option === "string" ? option : JSON.stringify(option)),
        ]),
      ]);
  }
}

function unset(field: Field): [string, string][] {
  return field.required && field.value !== undefined ? [] : [["", "(not set)"]];
}

function select(attributes: Markup, chosen: string, options: [string, string][]): Markup {
  return html`<select${attributes}>
${options.map(
  ([value, label]) => html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>\n`,
)}</select>`;
}

function belongsTo(error: FieldError, field: Field): boolean {
  return field.name === null || pathOf(error)[0] === field.name;
}

/** The message, with the path where that says more than the label above it. */
function errorText(error: FieldError): string {
  const inner = pathOf(error).length > 1 ? `${visibleLine(error.path)}: ` : "";
  return `${inner}${visibleLine(error.message, 500)}`;
}

/** The parts of `a.b[0]` and of `$.a.b[0]`. */
function pathOf(error: FieldError): string[] {
  return error.path
    .replace(/^\$\.?/, "")
    .split(/[.[\]]+/)
    .filter((part) => part !== "");
}
