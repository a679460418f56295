CREATE SCHEMA IF NOT EXISTS "payments";
--> statement-breakpoint
CREATE TABLE "payments"."owed_to_cashouts" (
	"source" text PRIMARY KEY NOT NULL,
	"micro" numeric(78,0) NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments"."promise_parts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payments"."promise_parts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"micro" numeric(78,0) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments"."payments" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"wallet" text NOT NULL,
	"pair" text NOT NULL,
	"currency" text NOT NULL,
	"rate_minor_per_usd" numeric(78,0) NOT NULL,
	"spread_bps" integer DEFAULT 0 NOT NULL,
	"fiat_minor" numeric(78,0) NOT NULL,
	"ausd_micro" numeric(78,0) NOT NULL,
	"topup_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"topup_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"method" text,
	"late_rate_minor_per_usd" numeric(78,0),
	"promised_micro" numeric(78,0),
	"quote_id" text NOT NULL,
	"request_fingerprint" text NOT NULL,
	"request_id" text,
	"account" text NOT NULL,
	"checkout_id" text,
	"checkout_url" text,
	"expires_at" timestamp (3) with time zone,
	"opening_until" timestamp (3) with time zone,
	"payment_request_id" text,
	"provider_payment_id" text,
	"channel" text,
	"held" boolean,
	"paid_minor" numeric(78,0),
	"paid_at" timestamp (3) with time zone,
	"ref_sequence" integer DEFAULT 0 NOT NULL,
	"onchain_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"left_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"recovered_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"written_off_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"credited_at" timestamp (3) with time zone,
	"refunds_checked_at" timestamp (3) with time zone,
	"hold_ended_at" timestamp (3) with time zone,
	"extended_at" timestamp (3) with time zone,
	"lost_hold" text,
	"refunded_minor" numeric(78,0) DEFAULT 0 NOT NULL,
	"refund_applied_minor" numeric(78,0) DEFAULT 0 NOT NULL,
	"overpaid_minor" numeric(78,0) DEFAULT 0 NOT NULL,
	"overpaid_refunded_minor" numeric(78,0) DEFAULT 0 NOT NULL,
	"reason" text,
	"tx_hash" text,
	"next_check_at" timestamp (3) with time zone,
	"checks" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payments_quote" UNIQUE("quote_id"),
	CONSTRAINT "payments_checkout" UNIQUE("checkout_id"),
	CONSTRAINT "payments_provider_payment" UNIQUE("provider_payment_id"),
	CONSTRAINT "payments_kind" CHECK ("payments"."payments"."kind" in ('topup', 'settlement')),
	CONSTRAINT "payments_state" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'paid', 'held', 'credited', 'revoking', 'revoked', 'refunded', 'review', 'refunding', 'accepted', 'replaced', 'repaid')),
	CONSTRAINT "payments_pair" CHECK ("payments"."payments"."pair" = 'USD/' || "payments"."payments"."currency"),
	CONSTRAINT "payments_account" CHECK (("payments"."payments"."currency", "payments"."payments"."account") in (('IDR', 'ID'), ('MYR', 'MY'))),
	CONSTRAINT "payments_amounts" CHECK ("payments"."payments"."fiat_minor" > 0 and "payments"."payments"."ausd_micro" > 0 and "payments"."payments"."rate_minor_per_usd" > 0),
	CONSTRAINT "payments_back" CHECK ("payments"."payments"."refunded_minor" >= 0 and "payments"."payments"."overpaid_minor" >= 0),
	CONSTRAINT "payments_shares" CHECK ("payments"."payments"."onchain_micro" >= 0 and "payments"."payments"."recovered_micro" >= 0 and "payments"."payments"."written_off_micro" >= 0 and "payments"."payments"."onchain_micro" + "payments"."payments"."recovered_micro" <= "payments"."payments"."ausd_micro"),
	CONSTRAINT "payments_awaiting" CHECK ("payments"."payments"."state" <> 'awaiting_payment' or "payments"."payments"."checkout_url" is not null),
	CONSTRAINT "payments_evidence" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'replaced', 'review') or "payments"."payments"."provider_payment_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "payments"."refunds" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"provider_payment_id" text NOT NULL,
	"refunded_minor" numeric(78,0),
	"status" text NOT NULL,
	"origin" text DEFAULT 'refund' NOT NULL,
	"object_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "refunds_amount" CHECK ("payments"."refunds"."refunded_minor" >= 0),
	CONSTRAINT "refunds_origin" CHECK ("payments"."refunds"."origin" in ('refund', 'ordered', 'chargeback', 'void'))
);
--> statement-breakpoint
CREATE TABLE "payments"."reversals" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"lost_micro" numeric(78,0) NOT NULL,
	"made_good_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"given_back_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"cleared_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reversals_amounts" CHECK ("payments"."reversals"."lost_micro" >= 0 and "payments"."reversals"."made_good_micro" >= 0 and "payments"."reversals"."given_back_micro" >= 0)
);
--> statement-breakpoint
CREATE TABLE "payments"."wallets" (
	"wallet" text PRIMARY KEY NOT NULL,
	"frozen" boolean NOT NULL,
	"revision" numeric(78,0) NOT NULL,
	"retry_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments"."refund_orders" (
	"reference" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"account" text NOT NULL,
	"currency" text NOT NULL,
	"provider_payment_id" text NOT NULL,
	"minor" numeric(78,0) NOT NULL,
	"is_second" boolean NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"requests" integer DEFAULT 0 NOT NULL,
	"requested_at" timestamp (3) with time zone,
	"refund_id" text,
	"failure_code" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "refund_orders_state" CHECK ("payments"."refund_orders"."state" in ('open', 'succeeded', 'failed')),
	CONSTRAINT "refund_orders_amount" CHECK ("payments"."refund_orders"."minor" > 0 and "payments"."refund_orders"."requests" >= 0)
);
--> statement-breakpoint
CREATE TABLE "payments"."resolutions" (
	"deed_id" uuid PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"resolution" text NOT NULL,
	"decided_by" text NOT NULL,
	"reason" text NOT NULL,
	"decided_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "resolutions_name" CHECK ("payments"."resolutions"."resolution" in ('credit', 'refund', 'accept')),
	CONSTRAINT "resolutions_words" CHECK ("payments"."resolutions"."decided_by" <> '' and "payments"."resolutions"."reason" <> '')
);
--> statement-breakpoint
CREATE TABLE "payments"."anomalies" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"account" text NOT NULL,
	"object" text NOT NULL,
	"payment_id" text,
	"currency" text,
	"amount_minor" numeric(78,0),
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments"."dead_letter" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"reason" text NOT NULL,
	"died_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redrive_requested_at" timestamp (3) with time zone,
	"redriven_at" timestamp (3) with time zone,
	CONSTRAINT "dead_letter_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "payments"."inbox" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"done_at" timestamp (3) with time zone,
	CONSTRAINT "inbox_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "payments"."journal" (
	"posting" text NOT NULL,
	"line" smallint NOT NULL,
	"event" text NOT NULL,
	"item" text NOT NULL,
	"account" text NOT NULL,
	"asset" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"reverses" text,
	"booked_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "journal_posting_line_pk" PRIMARY KEY("posting","line"),
	CONSTRAINT "journal_account" CHECK ("payments"."journal"."account" in ('provider_id', 'provider_my', 'treasury', 'credit_line', 'lanes', 'clawback', 'promises', 'collateral', 'collateral_held', 'repaid', 'repaid_held', 'payouts', 'returns', 'suspense', 'exchange', 'spread', 'capital', 'fees', 'waived', 'gas', 'drips')),
	CONSTRAINT "journal_asset" CHECK ("payments"."journal"."asset" in ('AUSD', 'IDR', 'MYR', 'MON')),
	CONSTRAINT "journal_amount" CHECK ("payments"."journal"."amount" <> 0)
);
--> statement-breakpoint
CREATE TABLE "payments"."listings" (
	"account" text NOT NULL,
	"window" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "listings_account_window_pk" PRIMARY KEY("account","window")
);
--> statement-breakpoint
CREATE TABLE "payments"."outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"position" bigserial NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"request_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"published_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "payments"."pauses" (
	"what" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone,
	"revision" integer NOT NULL,
	"set_by" text NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "payments_next_check" ON "payments"."payments" USING btree ("next_check_at") WHERE "payments"."payments"."next_check_at" is not null;--> statement-breakpoint
CREATE INDEX "payments_changed" ON "payments"."payments" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "payments_open_of_wallet" ON "payments"."payments" USING btree ("wallet") WHERE ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'paid', 'held', 'revoking', 'review', 'refunding') or ("payments"."payments"."state" = 'repaid' and "payments"."payments"."held" and "payments"."payments"."hold_ended_at" is null) or "payments"."payments"."reason" = 'awaiting_rate');--> statement-breakpoint
CREATE INDEX "payments_topups_of_wallet" ON "payments"."payments" USING btree ("wallet","topup_at") WHERE "payments"."payments"."topup_micro" > 0;--> statement-breakpoint
CREATE INDEX "payments_created" ON "payments"."payments" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "payments_credited" ON "payments"."payments" USING btree ("credited_at");--> statement-breakpoint
CREATE INDEX "payments_activity" ON "payments"."payments" USING btree ("wallet","created_at","id");--> statement-breakpoint
CREATE INDEX "payments_request" ON "payments"."payments" USING btree ("payment_request_id");--> statement-breakpoint
CREATE INDEX "payments_lost_hold" ON "payments"."payments" USING btree ("wallet") WHERE "payments"."payments"."lost_hold" = 'frozen';--> statement-breakpoint
CREATE UNIQUE INDEX "payments_open_settlement" ON "payments"."payments" USING btree ("wallet","state") WHERE "payments"."payments"."kind" = 'settlement' and "payments"."payments"."state" in ('opening', 'awaiting_payment');--> statement-breakpoint
CREATE INDEX "refunds_provider_payment" ON "payments"."refunds" USING btree ("provider_payment_id");--> statement-breakpoint
CREATE INDEX "refunds_payment" ON "payments"."refunds" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "reversals_wallet" ON "payments"."reversals" USING btree ("wallet");--> statement-breakpoint
CREATE INDEX "reversals_missing" ON "payments"."reversals" USING btree ("wallet") WHERE "payments"."reversals"."cleared_at" is null and "payments"."reversals"."made_good_micro" < "payments"."reversals"."lost_micro";--> statement-breakpoint
CREATE INDEX "wallets_frozen" ON "payments"."wallets" USING btree ("wallet") WHERE "payments"."wallets"."frozen";--> statement-breakpoint
CREATE INDEX "wallets_due" ON "payments"."wallets" USING btree ("retry_at") WHERE "payments"."wallets"."retry_at" is not null;--> statement-breakpoint
CREATE INDEX "refund_orders_payment" ON "payments"."refund_orders" USING btree ("payment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "refund_orders_once" ON "payments"."refund_orders" USING btree ("account","provider_payment_id") WHERE "payments"."refund_orders"."state" <> 'failed';--> statement-breakpoint
CREATE INDEX "resolutions_payment" ON "payments"."resolutions" USING btree ("payment_id","decided_at");--> statement-breakpoint
CREATE INDEX "anomalies_payment" ON "payments"."anomalies" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "dead_letter_open" ON "payments"."dead_letter" USING btree ("consumer") WHERE "payments"."dead_letter"."redriven_at" is null;--> statement-breakpoint
CREATE INDEX "inbox_done" ON "payments"."inbox" USING btree ("consumer","done_at") WHERE "payments"."inbox"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "journal_item" ON "payments"."journal" USING btree ("item");--> statement-breakpoint
CREATE INDEX "journal_booked" ON "payments"."journal" USING btree ("booked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "journal_reversed" ON "payments"."journal" USING btree ("reverses","line") WHERE reverses is not null;--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "payments"."outbox" USING btree ("position") WHERE "payments"."outbox"."published_at" is null;--> statement-breakpoint
CREATE INDEX "outbox_published" ON "payments"."outbox" USING btree ("published_at") WHERE "payments"."outbox"."published_at" is not null;
--> statement-breakpoint
CREATE FUNCTION "payments"."promised_of"("p" "payments"."payments") RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  -- AUSD (10⁻⁶) that must be covered for a payment until it is on the chain: an open checkout, money that
  -- arrived, late money without a rate, and money in review. Less refunds, and less what repays an earlier loss.
  SELECT CASE WHEN p.state IN ('opening', 'awaiting_payment', 'paid') OR p.reason = 'awaiting_rate'
    OR (p.state = 'review' AND p.credited_at IS NULL AND p.provider_payment_id IS NOT NULL
      AND coalesce(p.reason, '') NOT IN ('amount_differs', 'currency_differs'))
  THEN greatest(0, div(p.ausd_micro * greatest(0, p.fiat_minor - p.refunded_minor), p.fiat_minor) - p.recovered_micro)
  ELSE 0 END
$$;--> statement-breakpoint
CREATE FUNCTION "payments"."note_promise"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
  change numeric := payments.promised_of(new) - CASE WHEN tg_op = 'INSERT' THEN 0 ELSE payments.promised_of(old) END;
  part bigint;
BEGIN
  IF change = 0 THEN RETURN NULL; END IF;
  INSERT INTO payments.promise_parts (micro) VALUES (change) RETURNING id INTO part;
  -- Merges the parts now and then, without waiting: parts locked by another transaction stay.
  IF part % 64 = 0 THEN
    WITH gone AS (
      DELETE FROM payments.promise_parts WHERE id IN (SELECT id FROM payments.promise_parts FOR UPDATE SKIP LOCKED)
      RETURNING micro
    ) INSERT INTO payments.promise_parts (micro) SELECT sum(micro) FROM gone;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
-- Without a WHEN clause, which Postgres would plan for each statement at ten times the cost of the call.
CREATE TRIGGER "note_promise" AFTER INSERT OR UPDATE ON "payments"."payments" FOR EACH ROW EXECUTE FUNCTION payments.note_promise();
