/** What the shop begins with: orders, their deliveries, and the refund policy. */

export interface Order {
  readonly orderId: string;
  readonly customer: string;
  readonly items: readonly {
    readonly name: string;
    readonly quantity: number;
    readonly priceCents: number;
  }[];
  readonly shippingCents: number;
  readonly totalCents: number;
  readonly currency: 'USD';
  readonly placedOn: string;
  readonly promisedBy: string;
}

export interface Delivery {
  readonly orderId: string;
  readonly carrier: string;
  readonly status: 'in_transit' | 'delivered' | 'lost';
  readonly promisedBy: string;
  readonly deliveredOn?: string;
  readonly daysLate: number;
}

export interface PolicySection {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export const ORDERS: readonly Order[] = [
  order('O-101', 'ben@example.com', { name: 'Desk lamp', priceCents: 3900 }),
  order('O-102', 'cora@example.com', { name: 'Wool blanket', priceCents: 7400 }),
  order('O-103', 'dev@example.com', { name: 'Espresso cups', priceCents: 2800 }),
  order('O-104', 'ada@example.com', { name: 'Noise-cancelling headphones', priceCents: 8450 }),
  order('O-105', 'eli@example.com', { name: 'Standing desk', priceCents: 78_000 }),
];

export const DELIVERIES: readonly Delivery[] = [
  delivery('O-101', { status: 'delivered', deliveredOn: '2026-03-09', daysLate: 0 }),
  delivery('O-102', { status: 'delivered', deliveredOn: '2026-03-12', daysLate: 2 }),
  delivery('O-103', { status: 'in_transit', daysLate: 0 }),
  delivery('O-104', { status: 'delivered', deliveredOn: '2026-03-19', daysLate: 9 }),
  delivery('O-105', { status: 'delivered', deliveredOn: '2026-03-21', daysLate: 11 }),
];

export const POLICY: readonly PolicySection[] = [
  {
    id: 'R1',
    title: 'Late delivery',
    text: 'An order delivered more than 5 days after the promised date is refunded in full, shipping included, when the customer asks for it.',
  },
  {
    id: 'R2',
    title: 'Slightly late delivery',
    text: 'An order delivered 1 to 5 days late has its shipping refunded, and nothing else.',
  },
  {
    id: 'R3',
    title: 'Lost in transit',
    text: 'An order that the carrier declared lost is refunded in full.',
  },
  {
    id: 'R4',
    title: 'Who decides',
    text: 'A refund manager approves every refund before it is paid. Refunds above 500 USD are never paid by an agent.',
  },
];

function order(
  orderId: string,
  customer: string,
  item: { readonly name: string; readonly priceCents: number },
): Order {
  const shippingCents = 500;
  return {
    orderId,
    customer,
    items: [{ ...item, quantity: 1 }],
    shippingCents,
    totalCents: item.priceCents + shippingCents,
    currency: 'USD',
    placedOn: '2026-03-03',
    promisedBy: '2026-03-10',
  };
}

function delivery(
  orderId: string,
  facts: Pick<Delivery, 'status' | 'deliveredOn' | 'daysLate'>,
): Delivery {
  return { orderId, carrier: 'Northline', promisedBy: '2026-03-10', ...facts };
}
