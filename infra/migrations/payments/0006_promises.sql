CREATE TABLE "payments"."owed_to_cashouts" (
	"source" text PRIMARY KEY NOT NULL,
	"micro" numeric(78,0) NOT NULL,
	"read_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments"."reservations" (
	"quote_id" text PRIMARY KEY NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "reservations_until" ON "payments"."reservations" USING btree ("until");--> statement-breakpoint
CREATE INDEX "payments_promised" ON "payments"."payments" USING btree ("id") WHERE ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'paid') or "payments"."payments"."reason" = 'awaiting_rate' or ("payments"."payments"."state" = 'review' and "payments"."payments"."credited_at" is null and "payments"."payments"."provider_payment_id" is not null and "payments"."payments"."reason" not in ('amount_differs', 'currency_differs')));