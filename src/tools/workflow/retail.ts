/** The retail domain: orders of customers, to be refunded or exchanged where the policy of the order allows it. */
import { allows, COLOURS, type RetailDatabase, type State } from '../../tasks/workflow.ts';
import { fail, type FunctionSpec, type Outcome, type Parameter } from './functions.ts';

const order: Parameter = { name: 'order', description: 'Id of the order, from find_order.', type: 'id', letter: 'O' };

/** The status of each order, by its id. */
export function beginRetail({ orders }: RetailDatabase): State {
  return Object.fromEntries(orders.map(({ id }) => [id, 'delivered']));
}

/** The order that a call is about, as far as it was not returned before. */
function deliveredOrder(database: RetailDatabase, state: State, id: string): RetailDatabase['orders'][number] | Outcome {
  const found = database.orders.find((o) => o.id === id);
  if (found === undefined) return fail('NotFound', `no order ${id}`);
  return state[id] === 'delivered' ? found : fail('AlreadyReturned', `${id} is ${state[id]} already`);
}

export const RETAIL_FUNCTIONS: readonly FunctionSpec<RetailDatabase>[] = [
  {
    name: 'find_order',
    description: 'Lists what a customer ordered: item and id of each order.',
    parameters: [{ name: 'customer', description: 'Number of the customer.', type: 'integer', least: 100, most: 999 }],
    apply(database, state, args) {
      const customer = args.number('customer');
      const found = database.orders.filter((o) => o.customer === customer);
      if (found.length === 0) return fail('NotFound', `no customer ${customer}`);
      return { ok: true, state, output: `orders${found.map((o) => ` ${o.item}:${o.id}`).join('')}` };
    },
  },
  {
    name: 'check_policy',
    description: 'Says whether an order can be refunded, exchanged, both, or neither (final sale).',
    parameters: [order],
    apply(database, state, args) {
      const id = args.text('order');
      const found = database.orders.find((o) => o.id === id);
      if (found === undefined) return fail('NotFound', `no order ${id}`);
      return { ok: true, state, output: found.policy };
    },
  },
  {
    name: 'refund',
    description: 'Takes an order back and refunds it. This cannot be undone.',
    parameters: [order],
    apply(database, state, args) {
      const id = args.text('order');
      const found = deliveredOrder(database, state, id);
      if ('ok' in found) return found;
      if (!allows(found.policy, 'refund')) return fail('NotRefundable', `${id} is not refundable`);
      return { ok: true, output: 'refunded', state: { ...state, [id]: 'refunded' } };
    },
  },
  {
    name: 'exchange',
    description: 'Exchanges what was ordered for the same in another colour. It may be out of stock. This cannot be undone.',
    parameters: [order, { name: 'colour', description: 'The colour wanted.', type: 'choice', values: COLOURS }],
    apply(database, state, args) {
      const id = args.text('order');
      const found = deliveredOrder(database, state, id);
      if ('ok' in found) return found;
      if (!allows(found.policy, 'exchange')) return fail('NotExchangeable', `${id} is not exchangeable`);
      const colour = args.text('colour');
      if (!found.stock.some((available) => available === colour)) return fail('OutOfStock', `${colour} is out of stock`);
      return { ok: true, output: 'exchanged', state: { ...state, [id]: `exchanged for ${colour}` } };
    },
  },
];
