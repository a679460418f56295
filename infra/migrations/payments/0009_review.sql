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
ALTER TABLE "payments"."payments" DROP CONSTRAINT "payments_state";--> statement-breakpoint
DROP INDEX "payments"."payments_open_of_wallet";--> statement-breakpoint
CREATE INDEX "refund_orders_payment" ON "payments"."refund_orders" USING btree ("payment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "refund_orders_once" ON "payments"."refund_orders" USING btree ("account","provider_payment_id") WHERE "payments"."refund_orders"."state" <> 'failed';--> statement-breakpoint
CREATE INDEX "resolutions_payment" ON "payments"."resolutions" USING btree ("payment_id","decided_at");--> statement-breakpoint
CREATE INDEX "anomalies_payment" ON "payments"."anomalies" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "payments_open_of_wallet" ON "payments"."payments" USING btree ("wallet") WHERE ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'paid', 'held', 'revoking', 'review', 'refunding') or ("payments"."payments"."state" = 'repaid' and "payments"."payments"."held" and "payments"."payments"."hold_ended_at" is null) or "payments"."payments"."reason" = 'awaiting_rate');--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD CONSTRAINT "payments_state" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'paid', 'held', 'credited', 'revoking', 'revoked', 'refunded', 'review', 'refunding', 'accepted', 'replaced', 'repaid'));