/** The travel domain: a flight, a hotel, a car, and one budget for all of them. */
import { CITIES, type Hotel, type State, type TravelDatabase } from '../../tasks/workflow.ts';
import { fail, type FunctionSpec, type Outcome, type Parameter } from './functions.ts';

const city = (name: string, description: string): Parameter => ({ name, description, type: 'choice', values: CITIES });
const by = (values: readonly string[]): Parameter => ({ name: 'by', description: 'What to compare them by.', type: 'choice', values });
const nights: Parameter = { name: 'nights', description: 'How many nights, from the day of arrival.', type: 'integer', least: 1, most: 14 };
const day = (description: string): Parameter => ({ name: 'day', description, type: 'integer', least: 1, most: 30 });

/** `left` is what the bookings have left of the budget, in yuan; `car_days` the days of a rented car. */
export function beginTravel({ budget }: TravelDatabase): State {
  return { flight: null, hotel: null, nights: null, car_days: null, left: budget };
}

const leftIn = (state: State): number => Number(state['left']);
const flightIn = (database: TravelDatabase, state: State): TravelDatabase['flights'][number] | undefined =>
  database.flights.find(({ id }) => id === state['flight']);

/** Takes a price off the budget. */
function pay(state: State, price: number, what: string, change: State, done: string): Outcome {
  const left = leftIn(state) - price;
  if (left < 0) return fail('OverBudget', `${what} is over budget`);
  return { ok: true, output: `${done}, left ${left}`, state: { ...state, ...change, left } };
}

function refund(state: State, price: number, change: State): Outcome {
  const left = leftIn(state) + price;
  return { ok: true, output: `cancelled, left ${left}`, state: { ...state, ...change, left } };
}

const stayPrice = ({ price }: Hotel, count: number): number => price * count;

export const TRAVEL_FUNCTIONS: readonly FunctionSpec<TravelDatabase>[] = [
  {
    name: 'search_flights',
    description: 'Lists the flights between two cities on a day: price in yuan or hour of departure, and id.',
    parameters: [city('from', 'Where the flight departs.'), city('to', 'Where it arrives.'), day('Day of departure and arrival.'), by(['price', 'hour'])],
    apply(database, state, args) {
      const found = database.flights.filter((f) => f.from === args.text('from') && f.to === args.text('to') && f.day === args.number('day'));
      const shown = found.map((f) => ` ${args.text('by') === 'price' ? f.price : `${f.hour}h`}:${f.id}`);
      return { ok: true, state, output: found.length === 0 ? 'no flights' : `flights${shown.join('')}` };
    },
  },
  {
    name: 'book_flight',
    description: 'Books a flight and takes its price off the budget. It may turn out to be sold out.',
    parameters: [{ name: 'id', description: 'Id of the flight, from search_flights.', type: 'id', letter: 'F' }],
    apply(database, state, args) {
      const id = args.text('id');
      const flight = database.flights.find((f) => f.id === id);
      if (flight === undefined) return fail('NotFound', `no flight ${id}`);
      if (state['flight'] !== null) return fail('AlreadyBooked', 'a flight is booked already');
      if (flight.soldOut) return fail('SoldOut', `${id} is sold out`);
      return pay(state, flight.price, id, { flight: id }, 'booked');
    },
  },
  {
    name: 'search_hotels',
    description: 'Lists the hotels of a city: price in yuan a night or stars, and id.',
    parameters: [city('city', 'Where to stay.'), by(['price', 'stars'])],
    apply(database, state, args) {
      const found = database.hotels.filter((h) => h.city === args.text('city'));
      const shown = found.map((h) => ` ${args.text('by') === 'price' ? h.price : `${h.stars}*`}:${h.id}`);
      return { ok: true, state, output: found.length === 0 ? 'no hotels' : `hotels${shown.join('')}` };
    },
  },
  {
    name: 'book_hotel',
    description: 'Books a hotel in the city of arrival, from the day of arrival, and takes the price off the budget.',
    parameters: [{ name: 'id', description: 'Id of the hotel, from search_hotels.', type: 'id', letter: 'H' }, nights],
    apply(database, state, args) {
      const id = args.text('id');
      const hotel = database.hotels.find((h) => h.id === id);
      if (hotel === undefined) return fail('NotFound', `no hotel ${id}`);
      const flight = flightIn(database, state);
      if (flight === undefined) return fail('NotBooked', 'book a flight first');
      if (state['hotel'] !== null) return fail('AlreadyBooked', 'a hotel is booked already');
      if (hotel.city !== flight.to) return fail('WrongCity', `${id} is not in ${flight.to}`);
      const count = args.number('nights');
      return pay(state, stayPrice(hotel, count), id, { hotel: id, nights: count }, 'booked');
    },
  },
  {
    name: 'rent_car',
    description: 'Rents a car in the city of arrival, from the day of arrival, and takes the price off the budget.',
    parameters: [
      city('city', 'Where the car is picked up.'),
      day('Day on which it is picked up.'),
      { name: 'days', description: 'How many days.', type: 'integer', least: 1, most: 14 },
    ],
    apply(database, state, args) {
      const flight = flightIn(database, state);
      if (flight === undefined) return fail('NotBooked', 'book a flight first');
      if (state['car_days'] !== null) return fail('AlreadyBooked', 'a car is rented already');
      if (flight.to !== args.text('city')) return fail('WrongCity', `you fly to ${flight.to}`);
      if (flight.day !== args.number('day')) return fail('WrongDates', `you arrive on day ${flight.day}`);
      const days = args.number('days');
      return pay(state, database.carPrice * days, 'the car', { car_days: days }, 'rented');
    },
  },
  {
    name: 'cancel',
    description: 'Cancels a booking; its whole price is refunded. The flight can be cancelled only while nothing else is booked.',
    parameters: [{ name: 'booking', description: 'What to cancel.', type: 'choice', values: ['flight', 'hotel', 'car'] }],
    apply(database, state, args) {
      const booking = args.text('booking');
      const { hotel: hotelId, nights: count, car_days: days } = state;
      const flight = flightIn(database, state);
      const hotel = database.hotels.find(({ id }) => id === hotelId);
      if (booking === 'flight' && flight !== undefined) {
        if (hotelId !== null || days !== null) return fail('InUse', 'cancel hotel and car first');
        return refund(state, flight.price, { flight: null });
      }
      if (booking === 'hotel' && hotel !== undefined) return refund(state, stayPrice(hotel, Number(count)), { hotel: null, nights: null });
      if (booking === 'car' && days !== null) return refund(state, database.carPrice * Number(days), { car_days: null });
      return fail('NotBooked', `no ${booking} is booked`);
    },
  },
];
