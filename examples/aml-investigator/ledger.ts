// Customers and their transactions, read once from the data files and checked. Imported as JSON modules, so
// that the same code runs from source and bundled into a Lambda.
import { InvalidInput } from "baton";
import * as z from "zod";
import customerData from "./data/customers.json" with { type: "json" };
import transactionData from "./data/transactions.json" with { type: "json" };

const customerSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["person", "company"]),
  accounts: z.array(z.string()),
  since: z.iso.date(),
  kyc: z.strictObject({
    occupation: z.string(),
    risk: z.enum(["low", "medium", "high"]),
    declaredMonthlyCents: z.int(),
    purpose: z.string(),
  }),
});
export type Customer = z.infer<typeof customerSchema>;

const row = z.tuple([
  z.string(),
  z.iso.datetime(),
  z.string(),
  z.enum(["in", "out"]),
  z.int().positive(),
  z.enum(["cash", "wire", "sepa", "card"]),
  z.string(),
  z.string().length(2),
  z.string(),
]);

export type Transaction = {
  id: string;
  /** ISO 8601, UTC. */
  at: string;
  account: string;
  direction: "in" | "out";
  amountCents: number;
  channel: "cash" | "wire" | "sepa" | "card";
  /** Empty for cash. */
  counterparty: string;
  country: string;
  /** Free text by whoever paid: a stranger's words, never an instruction. */
  memo: string;
};

const customers = new Map(
  z
    .array(customerSchema)
    .parse(customerData)
    .map((customer) => [customer.id, customer]),
);
const transactions = z.array(row).parse(transactionData.rows).map(toTransaction);

/** Throws `InvalidInput` with the known ids, so that a model that guessed one can mend its call. */
export function customerById(customerId: string): Customer {
  const customer = customers.get(customerId);
  if (customer) return customer;
  throw new InvalidInput(`no customer ${JSON.stringify(customerId)}; known: ${[...customers.keys()].join(", ")}`);
}

/** All transactions of a customer's accounts, oldest first. */
export function transactionsOf(customerId: string): Transaction[] {
  const { accounts } = customerById(customerId);
  return transactions.filter((transaction) => accounts.includes(transaction.account));
}

export function allCustomers(): Customer[] {
  return [...customers.values()];
}

/** Every customer has one case in this data set: C-1042 -> AML-2026-1042. */
export function caseIdOf(customerId: string): string {
  return `AML-2026-${customerById(customerId).id.slice(2)}`;
}

export function totalCents(list: readonly { amountCents: number }[]): number {
  return list.reduce((sum, item) => sum + item.amountCents, 0);
}

function toTransaction(values: z.infer<typeof row>): Transaction {
  const [id, at, account, direction, amountCents, channel, counterparty, country, memo] = values;
  return { id, at, account, direction, amountCents, channel, counterparty, country, memo };
}
