CREATE TABLE "payments"."listings" (
	"account" text NOT NULL,
	"window" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"read_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "listings_account_window_pk" PRIMARY KEY("account","window")
);
--> statement-breakpoint
CREATE TABLE "payments"."reversals" (
	"payment_id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"lost_micro" numeric(78,0) NOT NULL,
	"made_good_micro" numeric(78,0) DEFAULT 0 NOT NULL,
	"cleared_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reversals_amounts" CHECK ("payments"."reversals"."lost_micro" > 0 and "payments"."reversals"."made_good_micro" >= 0 and "payments"."reversals"."made_good_micro" <= "payments"."reversals"."lost_micro")
);
--> statement-breakpoint
CREATE TABLE "payments"."wallets" (
	"wallet" text PRIMARY KEY NOT NULL,
	"frozen" boolean NOT NULL,
	"revision" numeric(78,0) NOT NULL,
	"order_again_at" timestamp (3) with time zone,
	"clear_requested_at" timestamp (3) with time zone,
	"clear_reason" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "payments"."payments" DROP CONSTRAINT "payments_state";--> statement-breakpoint
ALTER TABLE "payments"."payments" DROP CONSTRAINT "payments_evidence";--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "part" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "live_micro" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "offset_micro" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "waived_micro" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "credited_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "cleared_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "hold_ended_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "refund_applied_minor" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."refunds" ADD COLUMN "origin" text DEFAULT 'refund' NOT NULL;--> statement-breakpoint
-- Of payments from before: what is on the chain is live and final, and no hold of a settlement was ever begun.
UPDATE "payments"."payments" SET "live_micro" = "ausd_micro"
WHERE "state" IN ('paid', 'held', 'credited', 'revoking', 'revoked', 'repaid') OR ("state" = 'review' AND "tx_hash" IS NOT NULL);--> statement-breakpoint
UPDATE "payments"."payments" SET "credited_at" = "updated_at"
WHERE "state" IN ('held', 'credited', 'revoking', 'revoked', 'repaid') OR ("state" = 'review' AND "tx_hash" IS NOT NULL);--> statement-breakpoint
UPDATE "payments"."payments" SET "hold_ended_at" = "updated_at"
WHERE "held" AND "credited_at" IS NOT NULL AND "state" IN ('credited', 'repaid', 'review');--> statement-breakpoint
-- Refunds that a person saw to already freeze nobody now.
UPDATE "payments"."payments" SET "refund_applied_minor" = "refunded_minor",
  "waived_micro" = CASE WHEN "credited_at" IS NULL THEN 0
    ELSE "ausd_micro" - div("ausd_micro" * ("fiat_minor" - least("refunded_minor", "fiat_minor")), "fiat_minor") END
WHERE "state" = 'review' AND "refunded_minor" > 0;--> statement-breakpoint
-- Of several open settlements of a wallet the newest stays open; the codes of the others may still be paid.
UPDATE "payments"."payments" AS older SET "state" = 'replaced', "reason" = 'replaced', "updated_at" = now()
FROM "payments"."payments" AS newer
WHERE older."kind" = 'settlement' AND newer."kind" = 'settlement' AND older."wallet" = newer."wallet"
  AND older."state" IN ('opening', 'awaiting_payment') AND newer."state" IN ('opening', 'awaiting_payment')
  AND (older."created_at", older."id") < (newer."created_at", newer."id");--> statement-breakpoint
CREATE INDEX "reversals_wallet" ON "payments"."reversals" USING btree ("wallet");--> statement-breakpoint
CREATE INDEX "wallets_due" ON "payments"."wallets" USING btree ("order_again_at") WHERE "payments"."wallets"."order_again_at" is not null;--> statement-breakpoint
CREATE INDEX "wallets_clearing" ON "payments"."wallets" USING btree ("clear_requested_at") WHERE "payments"."wallets"."clear_requested_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "payments_open_settlement" ON "payments"."payments" USING btree ("wallet") WHERE "payments"."payments"."kind" = 'settlement' and "payments"."payments"."state" in ('opening', 'awaiting_payment');--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD CONSTRAINT "payments_shares" CHECK ("payments"."payments"."live_micro" >= 0 and "payments"."payments"."offset_micro" >= 0 and "payments"."payments"."waived_micro" >= 0 and "payments"."payments"."live_micro" + "payments"."payments"."offset_micro" <= "payments"."payments"."ausd_micro");--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD CONSTRAINT "payments_state" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'paid', 'held', 'credited', 'revoking', 'revoked', 'refunded', 'review', 'replaced', 'repaid'));--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD CONSTRAINT "payments_evidence" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'replaced', 'review') or "payments"."payments"."provider_payment_id" is not null);--> statement-breakpoint
ALTER TABLE "payments"."refunds" ADD CONSTRAINT "refunds_origin" CHECK ("payments"."refunds"."origin" in ('refund', 'ordered', 'chargeback'));